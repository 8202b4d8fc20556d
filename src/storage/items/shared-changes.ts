import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { Actor } from '../../library/actor.ts'
import type { ItemKind } from '../../library/items.ts'
import type { ItemReader } from '../../library/ports/items.ts'
import { type LastChange, type SharedState, sharedPath } from '../../library/shared-changes.ts'
import { listSkillFiles, type SkillFile } from '../../library/skill.ts'
import { slugifyTag } from '../../library/slug.ts'
import { isVisible, visibleSet, visibleVersions } from '../../library/visibility.ts'
import { batches } from '../batches.ts'
import { isOneOf } from '../is-one-of.ts'
import { ownersSeenBy } from '../people/team-roles.ts'
import { prepareListQuery, prepareQuery, prepareStatement, slot, together } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { applyFilter, type RowFilter, readCategories, readFilter } from './item-filters.ts'
import { isInVisibleSet, namesOfTags, readTags } from './item-rows.ts'

const namesJson = z.array(z.string())

const itemsNow = prepareListQuery((db, seqs) =>
  db
    .selectFrom('item')
    .leftJoin('category', 'category.seq', 'item.category_seq')
    .select(['item.seq', 'item.kind', 'item.slug', 'item.version', 'item.visibility', 'item.deleted_at'])
    .select(['item.channel_name', 'item.skill_name', 'category.slug as category'])
    .where('item.seq', 'in', seqs)
    .orderBy('item.seq'),
)
const lastEntries = prepareListQuery((db, seqs) =>
  db
    .selectFrom('shared_change')
    .select(['item_seq', 'version', 'audience', 'path', 'category', 'tags'])
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('shared_change as one')
        .select(({ fn }) => fn.max('one.seq').as('seq'))
        .where('one.item_seq', 'in', seqs)
        .groupBy('one.item_seq'),
    ),
)
const lastEntry = prepareQuery((db) => db.selectFrom('shared_change').select('revision').orderBy('seq', 'desc').limit(1))
const insertEntry = prepareStatement(
  sql`insert into shared_change (item_seq, version, audience, path, category, tags, actor_id, at, revision) values (${slot('item_seq')},
    ${slot('version')}, ${slot('audience')}, ${slot('path')}, ${slot('category')}, ${slot('tags')}, ${slot('actor_id')}, ${slot('at')},
    ${slot('revision')})`,
)

/** Where an item differs in one of these from its last entry, it gets another. */
const COMPARED = ['version', 'audience', 'path', 'category', 'tags'] as const

const lastTwo = prepareQuery((db) =>
  db
    .selectFrom('shared_change')
    .select(['seq', 'version', 'audience', 'category', 'tags', 'actor_id', 'at'])
    .where('item_seq', '=', sql<number>`${slot('seq')}`)
    .orderBy('seq', 'desc')
    .limit(2),
)

/** The last change of an item. What the open transaction changed is not in the log yet. */
export async function readLastChange(db: Kysely<Database>, seq: number): Promise<LastChange | null> {
  const [last, before] = (await lastTwo(db, { seq })).map(({ tags, actor_id: actorId, ...row }) => ({
    ...row,
    actorId,
    tags: tags === null ? null : namesJson.parse(JSON.parse(tags)),
  }))
  return last ? { ...last, before: before ?? null } : null
}

/**
 * Makes earlier entries of an item say what its last one says of tags, category and address: those of a version, or those of times when
 * nobody but its owner saw it. Who saw it stays, and so does what others may read. @returns how many said something else
 */
export async function forgetFilings(db: Kysely<Database>, itemSeq: number, of: { readonly version: number } | 'private'): Promise<number> {
  const entries = db.selectFrom('shared_change').select(['seq', 'version', 'audience', 'path', 'category', 'tags'])
  const [last, ...earlier] = await entries.where('item_seq', '=', itemSeq).orderBy('seq', 'desc').execute()
  if (!last) return 0
  const isMeant = (one: typeof last) =>
    of === 'private' ? one.audience === 'private' || one.audience === 'deleted' : one.version === of.version
  const { path, category, tags } = last
  const others = earlier.filter((one) => isMeant(one) && (one.path !== path || one.category !== category || one.tags !== tags))
  for (const part of batches(others.map(({ seq }) => seq))) {
    await db.updateTable('shared_change').set({ path, category, tags }).where('seq', 'in', part).execute()
  }
  return others.length
}

/** What items are now, for {@link logSharedChanges}. */
export async function readSharedStates(db: Kysely<Database>, seqs: readonly number[]): Promise<SharedState[]> {
  const states: SharedState[] = []
  for (const part of batches(seqs)) {
    const tagsOf = await readTags(db, part)
    for (const item of await itemsNow(db, part)) {
      const { seq, version, category } = item
      const audience = item.deleted_at === null ? item.visibility : 'deleted'
      const path = sharedPath({ ...item, name: item.channel_name ?? item.skill_name })
      states.push({ seq, version, audience, path, category, tags: namesOfTags(tagsOf.get(seq) ?? []) })
    }
  }
  return states
}

/**
 * Logs what items became, in order, where an earlier entry says otherwise. Call it at the end of the transaction that changed them, after
 * `Dialect.lockNumbers`: entries of one call have one revision. `actorId` is whoever changed an item, as in the audit log.
 */
export async function logSharedChanges(
  db: Kysely<Database>,
  states: readonly (SharedState & { readonly actorId?: string | null })[],
  at: string,
): Promise<void> {
  if (states.length === 0) return
  const lastOf = new Map<number, Omit<SharedState, 'seq' | 'tags'> & { readonly tags: string | null }>()
  const entries: (Omit<SharedState, 'seq'> & { item_seq: number; actor_id: string | null; at: string })[] = []
  const [[last], ...found] = await together([
    lastEntry(db, {}),
    ...Array.from(batches([...new Set(states.map(({ seq }) => seq))]), (part) => lastEntries(db, part)),
  ])
  for (const row of found.flat()) lastOf.set(row.item_seq, row)
  for (const state of states) {
    const { seq, actorId = null, ...rest } = state
    const before = lastOf.get(seq)
    // What was deleted before anything was logged needs no entry.
    const isKnown = before ? COMPARED.every((field) => before[field] === rest[field]) : rest.audience === 'deleted'
    if (isKnown) continue
    lastOf.set(seq, rest)
    entries.push({ item_seq: seq, ...rest, actor_id: actorId, at })
  }
  if (entries.length === 0) return
  const revision = Number(last?.revision ?? 0) + 1
  for (const part of batches(entries)) await together(part.map((entry) => insertEntry(db, { ...entry, revision })))
}

/** The log as callers may see it, and the texts of its versions. */
export function readSharedChanges(db: Kysely<Database>): Pick<ItemReader, 'walkSharedChanges' | 'readSharedVersions' | 'findLastChange'> {
  return {
    async findLastChange(itemId) {
      const item = await db.selectFrom('item').select('seq').where('id', '=', itemId).executeTakeFirst()
      return item ? await readLastChange(db, item.seq) : null
    },
    async walkSharedChanges(actor, reach, kind, filter, after, limit) {
      const set = visibleSet(actor, reach)
      const versions = visibleVersions(actor)
      const rowFilter = await readFilter(db, actor, filter)
      const page = await readPage(db, kind, rowFilter, after, limit)
      const next = page.length < limit ? null : (page.at(-1) ?? null)
      if (page.length === 0) return { changes: [], next }
      // The page comes first, whatever else the engine would rather begin with: a search by kind reads and sorts all items for each page.
      const query = db
        .selectFrom(db.selectFrom('item as one').select('one.seq as of').where('one.seq', 'in', page).as('page'))
        .crossJoin('item')
        .select(['item.seq', 'item.id', 'item.version', 'item.channel_name'])
        .select((eb) => eb('item.owner_seq', 'in', ownersSeenBy(set.readerId)).as('is_own'))
        .whereRef('item.seq', '=', 'page.of')
      const items = await applyFilter(query, kind, rowFilter, set).execute()
      const seqs = items.map(({ seq }) => seq)
      if (seqs.length === 0) return { changes: [], next }
      const rows = await db.selectFrom('shared_change').selectAll().where('item_seq', 'in', seqs).orderBy('seq').execute()
      // The newest version is what the item is; only those before it are looked at.
      const olderVersions = await db
        .selectFrom('shared_change as change')
        .innerJoin('item', 'item.seq', 'change.item_seq')
        .innerJoin('version', (join) =>
          join.onRef('version.item_seq', '=', 'change.item_seq').onRef('version.number', '=', 'change.version'),
        )
        .select(['change.seq', 'version.visibility', 'version.tags'])
        .where('change.item_seq', 'in', seqs)
        .whereRef('change.version', '<>', 'item.version')
        .execute()
      const versionOf = new Map(olderVersions.map((row) => [row.seq, row]))
      const filesOf = kind === 'skill' ? await countFiles(db, seqs) : new Map<string, number>()
      const rowsOf = Map.groupBy(rows, (row) => row.item_seq)
      const categories = rowFilter.categories && (await readCategories(db, {})).filter(({ seq }) => rowFilter.categories?.has(seq))
      const categorySlugs = categories && new Set<string | null>(categories.map(({ slug }) => slug))
      const isInScope = (row: (typeof rows)[number]): boolean => {
        if (categorySlugs && !categorySlugs.has(row.category)) return false
        const names = row.tags ?? versionOf.get(row.seq)?.tags
        if (!rowFilter.allTags || !names) return true
        const tags = new Set(namesJson.parse(JSON.parse(names)).map(slugifyTag))
        return rowFilter.allTags.every((tag) => tags.has(tag))
      }
      const changes = items.flatMap((item) => {
        const all = rowsOf.get(item.seq) ?? []
        const isOwn = Boolean(item.is_own)
        const isOpen = (row: (typeof rows)[number]) =>
          row.audience !== 'deleted' &&
          isVisible(actor, { visibility: row.audience, deletedAt: null }, isOwn ? 'reader' : null, reach) &&
          isInScope(row)
        // What was withdrawn and came back begins with its return.
        return all.slice(all.findLastIndex((row) => !isOpen(row)) + 1).flatMap((row) => {
          const older = versionOf.get(row.seq)
          const isReadable = row.version === item.version || (older !== undefined && (isOwn || versions.includes(older.visibility)))
          if (!isReadable) return []
          const { seq, version, path, at } = row
          const isKept = path === `plugins/${item.channel_name}`
          const files = filesOf.get(`${item.seq} ${version}`) ?? 0
          return [{ seq, itemId: item.id, files, kind, revision: Number(row.revision), version, path, at, isKept }]
        })
      })
      return { changes, next }
    },
    async readSharedVersions(actor, changeSeqs) {
      if (changeSeqs.length === 0) return []
      const rows = await selectReadable(db, actor, changeSeqs).execute()
      const skills = rows.filter(({ kind }) => kind === 'skill').map(({ version_seq: seq }) => seq)
      const files =
        skills.length === 0
          ? []
          : await db
              .selectFrom('version_file')
              .innerJoin('blob', 'blob.sha256', 'version_file.sha256')
              .select(['version_file.version_seq', 'version_file.filename', 'version_file.mode', 'blob.bytes'])
              .where('version_file.version_seq', 'in', skills)
              .execute()
      const filesOf = Map.groupBy(files, ({ version_seq: seq }) => seq)
      return rows.map((row) => ({
        seq: row.seq,
        title: row.title,
        description: row.description,
        type: row.type ?? '',
        content: row.content,
        category: row.category,
        tags: namesJson.parse(JSON.parse(row.tags ?? row.version_tags)),
        note: row.note,
        author: row.author,
        writer: row.writer,
        isByPerson: row.actor_id !== null,
        files: listSkillFiles<SkillFile>((filesOf.get(row.version_seq) ?? []).map(({ version_seq: _, ...file }) => file)),
      }))
    },
  }
}

/** How many files the versions of skills have, by item and number. */
async function countFiles(db: Kysely<Database>, seqs: readonly number[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('version')
    .innerJoin('version_file', 'version_file.version_seq', 'version.seq')
    .select(({ fn }) => ['version.item_seq', 'version.number', fn.countAll().as('files')])
    .where('version.item_seq', 'in', seqs)
    .groupBy(['version.item_seq', 'version.number'])
    .execute()
  return new Map(rows.map((row) => [`${row.item_seq} ${row.number}`, Number(row.files)]))
}

/**
 * Row numbers of a page of items, those of a filter's own index alone: the next after a position, in order. They may be too many; each is
 * looked at again.
 */
async function readPage(db: Kysely<Database>, kind: ItemKind, filter: RowFilter, after: number, limit: number): Promise<number[]> {
  const { seqs, authors, categories, allTags } = filter
  const [tag] = allTags ?? []
  const items = db.selectFrom('item').select('seq').where('seq', '>', after).orderBy('seq').limit(limit)
  const found: number[][] = []
  if (seqs) found.push([...seqs].filter((seq) => seq > after))
  else if (tag !== undefined) {
    const tagged = db.selectFrom('item_tag').select('item_seq as seq').where('slug', '=', tag).where('item_seq', '>', after)
    found.push((await tagged.orderBy('item_seq').limit(limit).execute()).map(({ seq }) => seq))
  } else if (authors || categories) {
    // One after the other: an index has the items of each in order.
    for (const author of authors ?? []) {
      for (const column of ['author_seq', 'owner_seq'] as const) {
        found.push((await items.where(column, '=', author).where('kind', '=', kind).execute()).map(({ seq }) => seq))
      }
    }
    for (const category of categories ?? []) {
      found.push((await items.where('category_seq', '=', category).where('kind', '=', kind).execute()).map(({ seq }) => seq))
    }
  } else found.push((await items.execute()).map(({ seq }) => seq))
  return [...new Set(found.flat())].sort((a, b) => a - b).slice(0, limit)
}

/** The versions of entries, as far as the actor may see them now. */
function selectReadable(db: Kysely<Database>, actor: Actor, changeSeqs: readonly number[]) {
  const set = visibleSet(actor, 'id')
  return db
    .selectFrom('item')
    .innerJoin('shared_change as change', 'change.item_seq', 'item.seq')
    .innerJoin('version', (join) => join.onRef('version.item_seq', '=', 'item.seq').onRef('version.number', '=', 'change.version'))
    .innerJoin('user as author', 'author.seq', 'item.author_seq')
    .innerJoin('user as writer', 'writer.seq', 'version.author_seq')
    .select(['change.seq', 'change.category', 'change.tags', 'change.actor_id', 'item.kind', 'version.seq as version_seq'])
    .select(['version.title', 'version.description', 'version.type', 'version.content', 'version.note', 'version.tags as version_tags'])
    .select(['author.username as author', 'writer.username as writer'])
    .where('change.seq', 'in', changeSeqs)
    .where(isInVisibleSet(set))
    .where((eb) =>
      eb.or([
        eb('item.owner_seq', 'in', ownersSeenBy(set.readerId)),
        eb.and([
          // Tags of a time when fewer saw the item are not for the others.
          isOneOf('change.audience', set.visibilities),
          eb.or([
            isOneOf('version.visibility', visibleVersions(actor)),
            sql<boolean>`${sql.ref('version.number')} = ${sql.ref('item.version')}`,
          ]),
        ]),
      ]),
    )
}
