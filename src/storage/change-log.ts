import { type Kysely, sql } from 'kysely'
import { type LastChange, type SharedChange, type SharedState, type SharedVersion, sharedPath } from '../domain/items/changes.ts'
import type { ItemKind } from '../domain/items/items.ts'
import type { ItemFilter } from '../domain/items/search.ts'
import { slugifyTag } from '../domain/items/slug.ts'
import { isVisible, type Visibility, visibleSet, visibleVersions } from '../domain/items/visibility.ts'
import type { Actor } from '../domain/people/actor.ts'
import { listSkillFiles, type SkillFile } from '../domain/skills/skill.ts'
import { applyFilter, type RowFilter, readCategories, readFilter } from './items/item-filters.ts'
import type { isVersionVisible } from './items/item-labels.ts'
import { isInVisibleSet, namesOfTags, readBody, readTags, textsJson } from './items/item-rows.ts'
import { ownersSeenBy } from './people/user-rows.ts'
import { batches, isOneOf, prepareInsert, prepareListQuery, prepareQuery, prepareStatement, slot, together } from './prepared.ts'
import type { Database } from './schema.ts'

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
    .selectFrom('change')
    .select(['item_seq', 'version', 'audience_after as audience', 'path', 'category', 'tags'])
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('change as one')
        .select(({ fn }) => fn.max('one.seq').as('seq'))
        .where('one.item_seq', 'in', seqs)
        .where('one.version', 'is not', null)
        .groupBy('one.item_seq'),
    ),
)
const insertEntry = prepareInsert('change')
/** Whether others than the owner saw an item before or after a change: as the condition of an index has it. */
const wasShared = sql<boolean>`(audience_before not in ('private', 'deleted') or audience_after not in ('private', 'deleted'))`
/** Rows of an item that say no more than that it changed: the next such row takes their place. */
const dropTouches = prepareStatement(sql`delete from change where item_seq = ${slot('seq')} and version is null`)
const dropOthers = prepareStatement(
  sql`delete from change where item_seq is null and kind = 'library' and (audience_after = ${slot('audience')} or audience_after is null)`,
)

/** Where an item differs in one of these from its last entry, it gets another. */
const COMPARED = ['version', 'audience', 'path', 'category', 'tags'] as const

const lastTwo = prepareQuery((db) =>
  db
    .selectFrom('change')
    .select(['seq', 'version', 'audience_after as audience', 'category', 'tags', 'actor_id', 'at'])
    .where('item_seq', '=', sql<number>`${slot('seq')}`)
    .where('version', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(2),
)

/** The last change of an item. What the open transaction changed is not in the log yet. */
async function readLastChange(db: Kysely<Database>, seq: number): Promise<LastChange | null> {
  const [last, before] = (await lastTwo(db, { seq })).map(({ tags, actor_id: actorId, version, audience, ...row }) => ({
    ...row,
    actorId,
    version: version ?? 0,
    audience: audience ?? 'deleted',
    tags: tags === null ? null : textsJson.parse(JSON.parse(tags)),
  }))
  return last ? { ...last, before: before ?? null } : null
}

/**
 * Makes earlier entries of an item say what its last one says of tags, category and address: those of a version, or those of times when
 * nobody but its owner saw it. Who saw it stays, and so does what others may read. @returns how many said something else
 */
export async function forgetFilings(db: Kysely<Database>, itemSeq: number, of: { readonly version: number } | 'private'): Promise<number> {
  const entries = db.selectFrom('change').select(['seq', 'version', 'audience_after as audience', 'path', 'category', 'tags'])
  const [last, ...earlier] = await entries.where('item_seq', '=', itemSeq).where('version', 'is not', null).orderBy('seq', 'desc').execute()
  if (!last) return 0
  const isMeant = (one: typeof last) =>
    of === 'private' ? one.audience === 'private' || one.audience === 'deleted' : one.version === of.version
  const { path, category, tags } = last
  const others = earlier.filter((one) => isMeant(one) && (one.path !== path || one.category !== category || one.tags !== tags))
  for (const part of batches(others.map(({ seq }) => seq))) {
    await db.updateTable('change').set({ path, category, tags }).where('seq', 'in', part).execute()
  }
  return others.length
}

/** The present state of items, for {@link logSharedChanges}. */
export async function readSharedStates(db: Kysely<Database>, seqs: readonly number[]): Promise<SharedState[]> {
  const states: SharedState[] = []
  for (const part of batches(seqs)) {
    const tagsOf = await readTags(db, part)
    for (const item of await itemsNow(db, part)) {
      const { seq, version, category } = item
      const audience = item.deleted_at === null ? item.visibility : 'deleted'
      const path = sharedPath({ ...item, name: item.channel_name ?? item.skill_name })
      states.push({ seq, kind: item.kind, version, audience, path, category, tags: namesOfTags(tagsOf.get(seq) ?? []) })
    }
  }
  return states
}

/**
 * Logs a write, at the end of its transaction: what items became, where an earlier entry says otherwise, and else that they changed. Items
 * that are gone were logged when they were removed. The rows of one call are one batch.
 * @param shown who sees what changed beside items
 * @param by id of whoever changed them, as in the audit log
 */
export async function logChanges(
  db: Kysely<Database>,
  states: readonly SharedState[],
  shown: Iterable<Visibility>,
  { at, by }: { readonly at: string; readonly by: string | null },
): Promise<void> {
  for (const audience of shown) await logOther(db, audience, at)
  if (states.length === 0) return
  const [last, ...found] = await together([
    readRevision(db, 'library'),
    ...Array.from(batches(states.map(({ seq }) => seq)), (part) => lastEntries(db, part)),
  ])
  const lastOf = new Map(found.flat().map((row) => [row.item_seq, row]))
  for (const part of batches(states)) {
    await together(
      part.map(async ({ seq, kind, audience, ...rest }) => {
        const before = lastOf.get(seq)
        const now = { audience, ...rest }
        // What was deleted before anything was logged needs no entry.
        const isKnown = before ? COMPARED.every((field) => before[field] === now[field]) : audience === 'deleted'
        const row = {
          item_seq: seq,
          kind,
          audience_before: before?.audience ?? null,
          audience_after: audience,
          at,
          actor_id: by,
          batch: last + 1,
        }
        if (isKnown) await together([dropTouches(db, { seq }), insertEntry(db, row)])
        else await insertEntry(db, { ...row, ...rest })
      }),
    )
  }
}

/** Logs that items are removed for good, in place of all that the log says of them. Call it before their rows go. */
export async function logRemovals(db: Kysely<Database>, seqs: readonly number[]): Promise<void> {
  const removed = await db
    .selectFrom('item')
    .select(['seq', 'kind'])
    .select(sql`exists (select 1 from change where change.item_seq = item.seq and ${wasShared})`.as('was_shared'))
    .where('seq', 'in', seqs)
    .execute()
  await db.deleteFrom('change').where('item_seq', 'in', seqs).execute()
  const batch = (await readRevision(db, 'library')) + 1
  const at = new Date().toISOString()
  for (const part of batches(removed)) {
    const rows = part.map(({ seq, kind, was_shared: wasShared }) => ({
      item_seq: seq,
      kind,
      audience_before: wasShared ? ('public' as const) : null,
      at,
      batch,
    }))
    await db.insertInto('change').values(rows).execute()
  }
}

/** Logs that items changed, whoever sees them; in one statement, for what changes many. */
export async function touchItems(db: Kysely<Database>, seqs: readonly number[]): Promise<void> {
  const at = new Date().toISOString()
  const batch = (await readRevision(db, 'library')) + 1
  await db.deleteFrom('change').where('item_seq', 'in', seqs).where('version', 'is', null).execute()
  await db
    .insertInto('change')
    .columns(['item_seq', 'kind', 'audience_before', 'audience_after', 'at', 'batch'])
    .expression((eb) =>
      eb
        .selectFrom('item')
        .select(['item.seq', 'item.kind', 'item.visibility as before', 'item.visibility as after'])
        .select([sql<string>`${at}`.as('at'), sql<number>`${sql.lit(batch)}`.as('batch')])
        .where('item.seq', 'in', seqs),
    )
    .execute()
}

/** Logs a change of what is no item, but of anything that these see in answers. */
export async function logOther(db: Kysely<Database>, audience: Visibility | null, at: string): Promise<void> {
  const batch = (await readRevision(db, 'library')) + 1
  await together([
    dropOthers(db, { audience }),
    insertEntry(db, { kind: 'library', audience_before: audience, audience_after: audience, at, batch }),
  ])
}

const lastSeq = prepareQuery((db) => db.selectFrom('change').select((eb) => eb.fn.max('seq').as('last')))
const lastShared = prepareStatement(sql<{ last: number | null }>`select max(seq) as last from change where ${wasShared}`)

/**
 * The revision of a scope: the number of its last change, of `public` the last that others than an item's owner may notice. Logins and
 * budgets, and when a key was last used, are no change.
 */
export async function readRevision(db: Kysely<Database>, scope: 'library' | 'public'): Promise<number> {
  const [row] = await (scope === 'library' ? lastSeq : lastShared)(db, {})
  return Number(row?.last ?? 0)
}

/** The log as callers may see it, and the texts of its versions. */
export function readSharedChanges(db: Kysely<Database>) {
  return {
    /** The last change of an item, without a look at who asks. What the open transaction changed is not known yet. */
    async findLastChange(itemId: string): Promise<LastChange | null> {
      const item = await db.selectFrom('item').select('seq').where('id', '=', itemId).executeTakeFirst()
      return item ? await readLastChange(db, item.seq) : null
    },
    /**
     * Entries of the log of visible changes of items that the actor may see within a scope, by items in their order after a position (0 is
     * the beginning); of an item that was withdrawn and came back, those since its return. `reach` as above.
     */
    async walkSharedChanges(
      actor: Actor,
      reach: 'list' | 'id',
      kind: ItemKind,
      filter: ItemFilter,
      after: number,
      limit: number,
    ): Promise<{ readonly changes: readonly SharedChange[]; readonly next: number | null }> {
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
      const rows = await db
        .selectFrom('change')
        .select(['seq', 'batch', 'path', 'category', 'tags', 'at'])
        .select((eb) => [
          eb.ref('item_seq').$notNull().as('item_seq'),
          eb.ref('version').$notNull().as('version'),
          eb.ref('audience_after').$notNull().as('audience'),
        ])
        .where('item_seq', 'in', seqs)
        .where('version', 'is not', null)
        .orderBy('seq')
        .execute()
      // The newest version is what the item is; only those before it are looked at.
      const olderVersions = await db
        .selectFrom('change')
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
        const tags = new Set(textsJson.parse(JSON.parse(names)).map(slugifyTag))
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
          return [{ seq, itemId: item.id, files, kind, revision: Number(row.batch), version, path: path ?? '', at, isKept }]
        })
      })
      return { changes, next }
    },
    /** The versions of entries by their numbers; those the actor may not see are left out. */
    async readSharedVersions(actor: Actor, changeSeqs: readonly number[]): Promise<readonly SharedVersion[]> {
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
        ...readBody(row),
        category: row.category,
        tags: textsJson.parse(JSON.parse(row.tags ?? row.version_tags)),
        note: row.note,
        author: row.author,
        writer: row.writer,
        isByPerson: row.actor_id !== null,
        files: listSkillFiles<SkillFile>((filesOf.get(row.version_seq) ?? []).map(({ version_seq: _, ...file }) => file)),
      }))
    },
  }
}

/** How many files versions of items have, by row number and number of the version. @param isCounted which of them. Default: all */
export async function countFiles(
  db: Kysely<Database>,
  seqs: readonly number[],
  isCounted?: ReturnType<typeof isVersionVisible>,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('version')
    .innerJoin('item', 'item.seq', 'version.item_seq')
    .leftJoin('version_file', 'version_file.version_seq', 'version.seq')
    .select(({ fn }) => ['version.item_seq', 'version.number', fn.count('version_file.filename').as('files')])
    .where('version.item_seq', 'in', seqs)
    .where((eb) => isCounted?.(eb) ?? eb.lit(true))
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
    .innerJoin('change', 'change.item_seq', 'item.seq')
    .innerJoin('version', (join) => join.onRef('version.item_seq', '=', 'item.seq').onRef('version.number', '=', 'change.version'))
    .innerJoin('user as author', 'author.seq', 'item.author_seq')
    .innerJoin('user as writer', 'writer.seq', 'version.author_seq')
    .select(['change.seq', 'change.category', 'change.tags', 'change.actor_id', 'item.kind', 'version.seq as version_seq'])
    .select([
      'version.title',
      'version.description',
      'version.type',
      'version.content',
      'version.messages',
      'version.config',
      'version.syntax',
      'version.note',
      'version.tags as version_tags',
    ])
    .select(['author.username as author', 'writer.username as writer'])
    .where('change.seq', 'in', changeSeqs)
    .where(isInVisibleSet(set))
    .where((eb) =>
      eb.or([
        eb('item.owner_seq', 'in', ownersSeenBy(set.readerId)),
        eb.and([
          // Tags of a time when fewer saw the item are not for the others.
          isOneOf('change.audience_after', set.visibilities),
          eb.or([
            isOneOf('version.visibility', visibleVersions(actor)),
            sql<boolean>`${sql.ref('version.number')} = ${sql.ref('item.version')}`,
          ]),
        ]),
      ]),
    )
}
