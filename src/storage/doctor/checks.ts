import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { ITEM_VECTOR_LENGTH } from '../../library/ports/item-vectors.ts'
import { decodePostings, encodePostings } from '../../search/analysis/indexed-text.ts'
import { COPIED_TABLES } from '../copy/copied-tables.ts'
import { type Row, readPage } from '../copy/table-rows.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'
import { touchItems } from '../search/item-words.ts'

/** One invariant of every library. */
export interface Check {
  readonly name: string
  /** Violations, a phrase each; null where a server guarantees it. */
  find(db: Kysely<Database>, dialect: Pick<Dialect, 'findFaults' | 'readColumns'>): Promise<readonly string[] | null>
  /** Rebuilds derived data. Absent where a fault needs a backup or a decision. */
  repair?(db: Kysely<Database>): Promise<void>
}

/** Rows changed by one statement. */
const ROWS_A_STATEMENT = 400

const itemName = sql<string>`item.kind || ' ' || item.id`

/** The names that a query gives as `name`. */
async function readNames(db: Kysely<Database>, query: ReturnType<typeof sql<{ name: string }>>): Promise<string[]> {
  return (await query.execute(db)).rows.map(({ name }) => name)
}

/** Every row of a table, a page at a time. */
async function* readRows(db: Kysely<Database>, name: string): AsyncGenerator<Row> {
  const table = COPIED_TABLES.find((one) => one.name === name)
  for (let last: Row | null = null; table; ) {
    const page: Row[] = await readPage(db, table, last)
    yield* page
    last = page.at(-1) ?? null
    if (page.length < table.rowsAPage) return
  }
}

const unusedBlobs = sql`
  from blob
  where not exists (select 1 from skill_file where skill_file.sha256 = blob.sha256)
    and not exists (select 1 from version_file where version_file.sha256 = blob.sha256)`

const wrongVotes = sql`item.votes <> (select count(*) from vote where vote.item_seq = item.seq)`

/** How many versions of an item were purged. */
const purgedVersions = sql`coalesce((
  select sum(purge.last_version - purge.first_version + 1) from purge where purge.item_id = item.id and purge.file_key is null
), 0)`

/** Items whose words are missing or refer to missing words. */
async function findItemsToRead(db: Kysely<Database>): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    select item.seq from item where not exists (select 1 from item_words where item_words.item_seq = item.seq)`.execute(db)
  const numbers = new Set<number>()
  for await (const { seq } of readRows(db, 'word')) numbers.add(Number(seq))
  const found = new Set(rows.map(({ seq }) => seq))
  for await (const { item_seq: seq, words } of readRows(db, 'item_words')) {
    if (!(words instanceof Uint8Array)) continue
    decodePostings(words, (word) => {
      if (!numbers.has(word)) found.add(Number(seq))
    })
  }
  return [...found]
}

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
    async find(db) {
      const faults: string[] = []
      for await (const { sha256, bytes } of readRows(db, 'blob')) {
        if (!(bytes instanceof Uint8Array) || createHash('sha256').update(bytes).digest('hex') !== sha256) {
          faults.push(`the bytes of ${sha256} are others`)
        }
      }
      const missing = await readNames(
        db,
        sql`
          select files.sha256 || ' is missing, or of another size' as name
          from (select sha256, size from skill_file union select sha256, size from version_file) as files
          left join blob on blob.sha256 = files.sha256
          where blob.sha256 is null or octet_length(blob.bytes) <> files.size
          order by name`,
      )
      return [...faults, ...missing]
    },
  },
  {
    name: 'unused files',
    find: (db) => readNames(db, sql`select sha256 as name ${unusedBlobs} order by sha256`),
    async repair(db) {
      await sql`delete from blob where sha256 in (select sha256 ${unusedBlobs})`.execute(db)
    },
  },
  {
    name: 'versions',
    find: (db) =>
      readNames(
        db,
        sql`
          select ${itemName} || ' has versions up to ' || item.version || ', of which ' || count(version.seq) || ' are there' as name
          from item left join version on version.item_seq = item.seq and version.number between 1 and item.version
          group by item.seq, item.kind, item.id, item.version
          having count(version.seq) <> item.version - ${purgedVersions}
          union all
          select ${itemName} || ' has a version ' || version.number || ' beyond its own' as name
          from version join item on item.seq = version.item_seq where version.number > item.version or version.number < 1
          order by name`,
      ),
  },
  {
    name: 'newest versions',
    find: (db) =>
      readNames(
        db,
        sql`
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
          order by name`,
      ),
  },
  {
    name: 'addresses',
    find: (db) =>
      readNames(
        db,
        sql`
          select ${itemName} || ' is not found by its address ' || item.slug as name
          from item left join slug on slug.slug = item.slug where slug.item_seq is null or slug.item_seq <> item.seq
          union all
          select 'collection ' || collection.id || ' is not found by its address ' || collection.slug as name
          from collection left join collection_slug on collection_slug.slug = collection.slug
          where collection.slug <> collection.id and coalesce(collection_slug.collection_seq, 0) <> collection.seq
          union all
          select slug.slug || ' is in use, and retired' as name from slug join retired_slug on retired_slug.slug = slug.slug
          order by name`,
      ),
  },
  {
    name: 'teams',
    find: (db) =>
      readNames(
        db,
        sql`
          select 'user ' || member.id || ' cannot be in team ' || team.id as name
          from team_member
          join "user" as team on team.seq = team_member.team_seq
          join "user" as member on member.seq = team_member.user_seq
          where team.is_team = 0 or team.suspended_at is not null or member.is_team = 1 or member.contributor_key is not null
          union all
          select 'user ' || "user".id || ' has the former name of a team' as name
          from former_name join "user" on "user".username_key = former_name.username_key
          order by name`,
      ),
  },
  {
    name: 'votes',
    find: (db) =>
      readNames(db, sql`select ${itemName} || ' has another count than votes' as name from item where ${wrongVotes} order by name`),
    async repair(db) {
      const { rows } = await sql<{ seq: number }>`select item.seq from item where ${wrongVotes}`.execute(db)
      const seqs = rows.map(({ seq }) => seq)
      await sql`update item set votes = (select count(*) from vote where vote.item_seq = item.seq) where ${wrongVotes}`.execute(db)
      for (const part of batches(seqs)) await touchItems(db, part)
    },
  },
  {
    name: 'search words',
    async find(db) {
      const seqs = await findItemsToRead(db)
      const names: string[] = []
      for (const part of batches(seqs)) {
        const rows = await db.selectFrom('item').select(itemName.as('name')).where('seq', 'in', part).execute()
        names.push(...rows.map(({ name }) => `${name} lacks words`))
      }
      return names
    },
    async repair(db) {
      // Rebuilt when the library is next opened.
      for (const part of batches(await findItemsToRead(db))) {
        await db.updateTable('item_words').set({ analysis: 0 }).where('item_seq', 'in', part).execute()
      }
    },
  },
  {
    name: 'words of removed items',
    find: (db) =>
      readNames(
        db,
        sql`
          select 'row ' || item_seq || ' has words' as name from item_words
          where octet_length(words) > 0 and not exists (select 1 from item where item.seq = item_words.item_seq)
          order by item_seq`,
      ),
    async repair(db) {
      await db
        .updateTable('item_words')
        .set({ words: encodePostings([]), vector: null, title_length: 0, body_length: 0 })
        .where((eb) => eb.not(eb.exists(eb.selectFrom('item').select('item.seq').whereRef('item.seq', '=', 'item_words.item_seq'))))
        .execute()
    },
  },
  {
    name: 'vectors',
    find: (db) =>
      readNames(
        db,
        sql`
          select 'embedding ' || seq || ' has no vector' as name from embedding
          where not exists (select 1 from embedding_vector where embedding_vector.embedding_seq = embedding.seq)
          order by seq`,
      ),
    async repair(db) {
      // The service asks the provider again.
      await sql`
        delete from embedding where not exists (select 1 from embedding_vector where embedding_vector.embedding_seq = embedding.seq)`.execute(
        db,
      )
    },
  },
  {
    name: 'item vectors',
    find: (db) =>
      readNames(
        db,
        sql`
          select ${itemName} || ' has a vector of ' || octet_length(item_vector.vector) || ' bytes' as name
          from item_vector join item on item.seq = item_vector.item_seq
          where octet_length(item_vector.vector) <> ${sql.lit(ITEM_VECTOR_LENGTH)}
          union all
          select ${itemName} || ' is in the trash and has a vector' as name
          from item_vector join item on item.seq = item_vector.item_seq where item.deleted_at is not null
          order by name`,
      ),
    async repair(db) {
      // The service makes vectors again.
      await sql`
        delete from item_vector where octet_length(vector) <> ${sql.lit(ITEM_VECTOR_LENGTH)}
          or item_seq in (select seq from item where deleted_at is not null)`.execute(db)
    },
  },
]

function* batches<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += ROWS_A_STATEMENT) yield all.slice(at, at + ROWS_A_STATEMENT)
}
