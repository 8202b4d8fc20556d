import { createHash } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { decodePostings } from '../../search/analysis/indexed-text.ts'
import { touchItems } from '../change-log.ts'
import { type Row, readPages, readTables } from '../copy/table-rows.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { isUnused } from '../items/remove-items.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** One invariant of every library. */
export interface Check {
  readonly name: string
  /** Violations, a phrase each; null where a server guarantees it. */
  find(db: Kysely<Database>, dialect: Pick<Dialect, 'findFaults' | 'readColumns' | 'readKey'>): Promise<readonly string[] | null>
  /** Rebuilds derived data. Absent where a fault needs a backup or a decision. */
  repair?(db: Kysely<Database>, dialect: Parameters<Check['find']>[1]): Promise<void>
}

/** Rows changed by one statement. */
const ROWS_A_STATEMENT = 400

const itemName = sql<string>`item.kind || ' ' || item.id`
/** Whether a vector has other dimensions than the last one of its model. */
const isOfOtherDims = sql`octet_length(item_vector.vector) <> (
  select octet_length(latest.vector) from item_vector as latest where latest.model = item_vector.model order by latest.seq desc limit 1)`

/** Finds what a query names as `name`. */
function findNames(query: RawBuilder<{ name: string }>) {
  return async (db: Kysely<Database>): Promise<string[]> => (await query.execute(db)).rows.map(({ name }) => name)
}

/** Every row of a table, a page at a time. */
async function* readRows(db: Kysely<Database>, dialect: Parameters<Check['find']>[1], name: string): AsyncGenerator<Row> {
  for (const table of await readTables(db, dialect, [name])) for await (const page of readPages(db, table)) yield* page
}

const wrongVotes = sql`item.votes <> (select count(*) from vote where vote.item_seq = item.seq)`

/** How many versions of an item were purged. */
const purgedVersions = sql`coalesce((
  select sum(purge.last_version - purge.first_version + 1) from purge where purge.item_id = item.id and purge.file_key is null
), 0)`

/** Items whose words are missing or refer to missing words. */
async function findItemsToRead(db: Kysely<Database>, dialect: Parameters<Check['find']>[1]): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    select item.seq from item where not exists (select 1 from item_words where item_words.item_seq = item.seq)`.execute(db)
  const numbers = new Set<number>()
  for await (const { seq } of readRows(db, dialect, 'word')) numbers.add(Number(seq))
  const found = new Set(rows.map(({ seq }) => seq))
  for await (const { item_seq: seq, words } of readRows(db, dialect, 'item_words')) {
    if (!(words instanceof Uint8Array)) continue
    decodePostings(words, (word) => {
      if (!numbers.has(word)) found.add(Number(seq))
    })
  }
  return [...found]
}

/** Files whose bytes are not there. */
const findMissingFiles = findNames(sql`
  select files.sha256 || ' is missing, or of another size' as name
  from (select sha256, size from skill_file union select sha256, size from version_file) as files
  left join blob on blob.sha256 = files.sha256
  where blob.sha256 is null or octet_length(blob.bytes) <> files.size
  order by name`)

/** Every check, in the order of the report. Each reads a library whose schema is this build's. */
export const CHECKS: readonly Check[] = [
  {
    name: 'structure',
    find: async (db, dialect) => (await dialect.findFaults(db))?.structure ?? null,
  },
  {
    name: 'references',
    find: async (db, dialect) => (await dialect.findFaults(db))?.references ?? null,
  },
  {
    name: 'files',
    async find(db, dialect) {
      const faults: string[] = []
      for await (const { sha256, bytes } of readRows(db, dialect, 'blob')) {
        if (!(bytes instanceof Uint8Array) || createHash('sha256').update(bytes).digest('hex') !== sha256) {
          faults.push(`the bytes of ${sha256} are others`)
        }
      }
      return [...faults, ...(await findMissingFiles(db))]
    },
  },
  {
    name: 'unused files',
    find: findNames(sql`select sha256 as name from blob where ${isUnused} order by sha256`),
    async repair(db) {
      await db.deleteFrom('blob').where(isUnused).execute()
    },
  },
  {
    name: 'versions',
    find: findNames(sql`
      select ${itemName} || ' has versions up to ' || item.version || ', of which ' || count(version.seq) || ' are there' as name
      from item left join version on version.item_seq = item.seq and version.number between 1 and item.version
      group by item.seq, item.kind, item.id, item.version
      having count(version.seq) <> item.version - ${purgedVersions}
      union all
      select ${itemName} || ' has a version ' || version.number || ' beyond its own' as name
      from version join item on item.seq = version.item_seq where version.number > item.version or version.number < 1
      order by name`),
  },
  {
    name: 'newest versions',
    find: findNames(sql`
      select ${itemName} || ' is not what its newest version is' as name
      from item join version on version.item_seq = item.seq and version.number = item.version
      where version.title <> item.title or version.content <> item.content
        or coalesce(version.description, '') <> coalesce(item.description, '') or coalesce(version.type, '') <> coalesce(item.type, '')
        or exists (
          select 1 from skill_file as file where file.item_seq = item.seq and not exists (
            select 1 from version_file as kept
            where kept.version_seq = version.seq and kept.filename = file.filename and kept.sha256 = file.sha256))
        or (select count(*) from skill_file where skill_file.item_seq = item.seq)
          <> (select count(*) from version_file where version_file.version_seq = version.seq)
      order by name`),
  },
  {
    name: 'addresses',
    find: findNames(sql`
      select ${itemName} || ' is not found by its address ' || item.slug as name
      from item left join slug on slug.slug = item.slug
      where item.slug <> item.id and coalesce(slug.item_seq, 0) <> item.seq
      union all
      select 'collection ' || collection.id || ' is not found by its address ' || collection.slug as name
      from collection left join collection_slug on collection_slug.slug = collection.slug
      where collection.slug <> collection.id and coalesce(collection_slug.collection_seq, 0) <> collection.seq
      union all
      select slug.slug || ' is in use, and retired' as name from slug join retired_slug on retired_slug.slug = slug.slug
      order by name`),
  },
  {
    name: 'teams',
    find: findNames(sql`
      select 'user ' || member.id || ' cannot be in team ' || team.id as name
      from team_member
      join "user" as team on team.seq = team_member.team_seq
      join "user" as member on member.seq = team_member.user_seq
      where team.is_team = 0 or team.suspended_at is not null or member.is_team = 1 or member.contributor_key is not null
      union all
      select 'user ' || "user".id || ' has the former name of a team' as name
      from former_name join "user" on "user".username_key = former_name.username_key
      order by name`),
  },
  {
    name: 'votes',
    find: findNames(sql`select ${itemName} || ' has another count than votes' as name from item where ${wrongVotes} order by name`),
    async repair(db) {
      const { rows } = await sql<{ seq: number }>`select item.seq from item where ${wrongVotes}`.execute(db)
      const seqs = rows.map(({ seq }) => seq)
      await sql`update item set votes = (select count(*) from vote where vote.item_seq = item.seq) where ${wrongVotes}`.execute(db)
      for (const part of batches(seqs, ROWS_A_STATEMENT)) await touchItems(db, part)
    },
  },
  {
    name: 'search words',
    async find(db, dialect) {
      const seqs = await findItemsToRead(db, dialect)
      const names: string[] = []
      for (const part of batches(seqs, ROWS_A_STATEMENT)) {
        const rows = await db.selectFrom('item').select(itemName.as('name')).where('seq', 'in', part).execute()
        names.push(...rows.map(({ name }) => `${name} lacks words`))
      }
      return names
    },
    async repair(db, dialect) {
      // Rebuilt when the library is next opened.
      for (const part of batches(await findItemsToRead(db, dialect), ROWS_A_STATEMENT)) {
        await db.updateTable('item_words').set({ analysis: 0 }).where('item_seq', 'in', part).execute()
      }
    },
  },
  {
    name: 'item vectors',
    find: findNames(sql`
      select ${itemName} || ' has a vector of ' || octet_length(item_vector.vector) || ' bytes' as name
      from item_vector join item on item.seq = item_vector.item_seq where ${isOfOtherDims}
      union all
      select ${itemName} || ' is in the trash and has a vector' as name
      from item_vector join item on item.seq = item_vector.item_seq where item.deleted_at is not null
      union all
      select ${itemName} || ' is not public and has a vector of a provider' as name
      from item_vector join item on item.seq = item_vector.item_seq
      where item_vector.is_provided = 1 and item.deleted_at is null and item.visibility <> 'public'
      order by name`),
    async repair(db) {
      // The service makes vectors again.
      await sql`
        delete from item_vector where ${isOfOtherDims} or item_seq in (select seq from item where deleted_at is not null)
          or (is_provided = 1 and item_seq in (select seq from item where visibility <> 'public'))`.execute(db)
    },
  },
]
