import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { toCheckNote } from '../../domain/check/findings.ts'
import type { WalkPosition } from '../../domain/items/item-access.ts'
import type { SharedSkill, SkillManifest } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { type Reach, type VisibleSet, visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { describeSkill, readNamedFrontmatter } from '../../domain/skills/frontmatter.ts'
import { decodeText, listSkillFiles, SKILL_MD } from '../../domain/skills/skill.ts'
import { readVerdicts } from '../checks/judge.ts'
import { ownersSeenBy, selectNamed } from '../people/user-rows.ts'
import { batches, isOneOf } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { applyFilter, isBeyond, readFilter } from './item-filters.ts'
import { selectLabelled } from './item-labels.ts'
import { isInVisibleSet, isWithin, readTags, seqOf } from './item-rows.ts'

/** Frontmatters kept. */
const MAX_PARSED = 2_000
/** Files in memory at once. */
const READ_AT_ONCE = 10

/** Parses files by their digests, and keeps the results, as parsing one takes 0.2 ms. @param max results kept */
function readParsed<T>(db: Kysely<Database>, max: number, parse: (text: string | null) => T) {
  const kept = new LRUCache<string, { readonly parsed: T }>({ maxSize: max, sizeCalculation: () => 1 })
  return async (digests: readonly string[]): Promise<ReadonlyMap<string, T>> => {
    const known = new Map([...new Set(digests)].map((digest) => [digest, kept.get(digest)]))
    const missing = [...known].flatMap(([digest, entry]) => (entry ? [] : [digest]))
    for (const part of batches(missing, READ_AT_ONCE)) {
      for (const { sha256, bytes } of await db.selectFrom('blob').select(['sha256', 'bytes']).where('sha256', 'in', part).execute()) {
        const entry = { parsed: parse(decodeText(bytes)) }
        known.set(sha256, entry)
        kept.set(sha256, entry)
        // libuv accepts one connection a turn: behind a burst of hundreds, longer turns keep newcomers waiting.
        await nextTurn()
      }
    }
    return new Map([...known].flatMap(([digest, entry]) => (entry ? [[digest, entry.parsed] as const] : [])))
  }
}

/** The newest files of skills. */
const selectFiles = (db: Kysely<Database>, seqs: readonly number[]) =>
  db.selectFrom('skill_file').select(['item_seq', 'filename', 'sha256', 'size', 'mode']).where('item_seq', 'in', seqs)

/** The digest of SKILL.md; empty without one. */
const digestOf = (files: readonly { readonly filename: string; readonly sha256: string }[] = []): string =>
  files.find(({ filename }) => filename === SKILL_MD)?.sha256 ?? ''

/** Skills by the names their SKILL.md gives them, with the digests of their files. */
export function readManifests(db: Kysely<Database>) {
  const named = (actor: Actor, reach: Reach) =>
    db
      .selectFrom('item')
      .innerJoin('user as owner', 'owner.seq', 'item.owner_seq')
      .where('item.kind', '=', 'skill')
      .where('item.skill_name', 'is not', null)
      .select([
        'item.seq',
        'item.id',
        'item.slug',
        'item.version',
        'item.skill_name',
        'item.created_at',
        'owner.username',
        sql<number>`item.seq = ${firstOfName(visibleSet(actor, reach))}`.as('is_first'),
      ])
  type Row = Awaited<ReturnType<ReturnType<typeof named>['execute']>>[number]

  const readFrontmatters = readParsed(db, MAX_PARSED, (text) => readNamedFrontmatter(text ?? ''))

  async function toManifests(rows: readonly Row[]) {
    if (rows.length === 0) return []
    const seqs = rows.map((row) => row.seq)
    const filesOf = Map.groupBy(await selectFiles(db, seqs).execute(), (file) => file.item_seq)
    const frontmatters = await readFrontmatters(seqs.map((seq) => digestOf(filesOf.get(seq))))
    const verdicts = await readVerdicts(db, seqs)
    return rows.flatMap((row) => {
      const files = filesOf.get(row.seq) ?? []
      const frontmatter = frontmatters.get(digestOf(files))
      if (!frontmatter) return []
      return [
        {
          id: row.id,
          owner: row.username,
          path: row.is_first ? frontmatter.name : `${row.slug}/${frontmatter.name}`,
          frontmatter,
          check: toCheckNote(verdicts.get(row.seq), row.version),
          files: listSkillFiles(files.map(({ filename, sha256, size }) => ({ filename, sha256, size }))),
          position: { createdAt: row.created_at, order: row.seq },
        },
      ]
    })
  }

  const inFilter = async (actor: Actor, filter: ItemFilter) =>
    applyFilter(db.selectFrom('item').select('item.seq'), 'skill', await readFilter(db, actor, filter), visibleSet(actor, 'list'))

  return {
    /** Skills that have a proper name, newest first, after `after`. */
    async walkSkills(
      actor: Actor,
      filter: ItemFilter | null,
      after: WalkPosition | null,
      limit: number,
    ): Promise<(SkillManifest & { readonly id: string; readonly position: WalkPosition })[]> {
      let query = named(actor, 'list').where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
      if (filter) query = query.where('item.seq', 'in', await inFilter(actor, filter))
      if (after) query = query.where((eb) => isBeyond(after, 'newest')(eb))
      return await toManifests(await query.orderBy('item.created_at', 'desc').orderBy('item.seq', 'desc').limit(limit).execute())
    },
    /** The skill that stands at `path` below an owner (in any case), when the actor may see it by its address. */
    async findSkillAt(
      actor: Actor,
      owner: string,
      path: string,
      filter: ItemFilter | null = null,
    ): Promise<(SkillManifest & { readonly id: string }) | null> {
      const [head = '', name] = path.split('/')
      let reachable = named(actor, 'slug')
        .where((eb) => isInVisibleSet(visibleSet(actor, 'slug'))(eb))
        .where('owner.seq', 'in', selectNamed(db, [owner]))
      if (filter) reachable = reachable.where('item.seq', 'in', await inFilter(actor, filter))
      const found =
        name === undefined
          ? reachable.where('item.skill_name', '=', head).where(sql<boolean>`item.seq = ${firstOfName(visibleSet(actor, 'slug'))}`)
          : reachable.where('item.skill_name', '=', name).where('item.slug', '=', head)
      const row = await found.executeTakeFirst()
      return row ? ((await toManifests([row]))[0] ?? null) : null
    },
  }
}

/**
 * The oldest visible skill of an owner with this name gets the name; the others use their slugs. Hidden skills do not count, or an address
 * would reveal them.
 */
function firstOfName(set: VisibleSet) {
  return sql`(select min(same.seq) from item as same
    where same.owner_seq = item.owner_seq and same.skill_name = item.skill_name and same.deleted_at is null
    and (${isOneOf('same.visibility', set.visibilities)} or same.owner_seq in ${ownersSeenBy(set.readerId)})
    ${set.within ? sql`and ${isWithin(set, 'same')}` : sql``})`
}

/** Descriptions kept, of at most 2 KB each. */
const MAX_DESCRIBED = 20_000

/** The files of versions at a label that are not the newest. */
async function readOlderFiles(db: Kysely<Database>, rows: readonly { readonly seq: number }[], versionOf: ReadonlyMap<number, number>) {
  if (rows.length === 0) return []
  const files = await db
    .selectFrom('version')
    .innerJoin('version_file', 'version_file.version_seq', 'version.seq')
    .select([
      'version.item_seq',
      'version.number',
      'version_file.filename',
      'version_file.sha256',
      'version_file.size',
      'version_file.mode',
    ])
    .where('version.item_seq', 'in', rows.map(seqOf))
    .execute()
  return files.flatMap(({ number, ...file }) => (versionOf.get(file.item_seq) === number ? [{ ...file, isOlder: true as const }] : []))
}

/** Skills with names and digests, for channels. */
export function readSharedSkills(db: Kysely<Database>) {
  const describe = readParsed(db, MAX_DESCRIBED, describeSkill)
  return async (
    actor: Actor,
    reach: 'list' | 'id',
    filter: ItemFilter,
    after: number,
    limit: number,
  ): Promise<{ readonly skills: readonly SharedSkill[]; readonly next: number | null }> => {
    const query = db
      .selectFrom('item')
      .innerJoin('user as author', 'author.seq', 'item.author_seq')
      .leftJoin('category', 'category.seq', 'item.category_seq')
      .select([
        'item.seq',
        'item.id',
        'item.slug',
        'item.title',
        'item.visibility',
        'item.version',
        'item.updated_at as updatedAt',
        'item.channel_name as channelName',
        'author.username as author',
        'category.slug as category',
      ])
    // The joins only add columns; the filter is over items.
    const narrowed = applyFilter(query, 'skill', await readFilter(db, actor, filter), visibleSet(actor, reach))
    const rows = await narrowed.where('item.seq', '>', after).orderBy('item.seq').limit(limit).execute()
    const seqs = rows.map(seqOf)
    if (seqs.length === 0) return { skills: [], next: null }
    const tags = await readTags(db, seqs)
    const verdicts = await readVerdicts(db, seqs)
    const labelled =
      filter.label === undefined ? [] : await selectLabelled(db, actor, filter.label).where('label.item_seq', 'in', seqs).execute()
    const versionOf = new Map(labelled.map(({ seq, version }) => [seq, version]))
    const isOlder = ({ seq, version }: (typeof rows)[number]) => (versionOf.get(seq) ?? version) !== version
    const files = [...(await selectFiles(db, seqs).execute()), ...(await readOlderFiles(db, rows.filter(isOlder), versionOf))]
    const older = new Set(rows.filter(isOlder).map(seqOf))
    const filesOf = Map.groupBy(
      files.filter((file) => 'isOlder' in file || !older.has(file.item_seq)),
      ({ item_seq: seq }) => seq,
    )
    const descriptions = await describe(seqs.map((seq) => digestOf(filesOf.get(seq))))
    const skills = rows.map(({ seq, visibility, version: newest, ...skill }) => {
      const version = versionOf.get(seq) ?? newest
      return {
        ...skill,
        tags: (tags.get(seq) ?? []).map(({ slug }) => slug),
        isPublic: visibility === 'public',
        version,
        check: toCheckNote(verdicts.get(seq), version),
        described: descriptions.get(digestOf(filesOf.get(seq))) ?? describeSkill(''),
        files: listSkillFiles((filesOf.get(seq) ?? []).map(({ filename, sha256, size, mode }) => ({ filename, sha256, size, mode }))),
      }
    })
    return { skills, next: rows.length < limit ? null : (seqs.at(-1) ?? null) }
  }
}
