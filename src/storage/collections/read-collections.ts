import { type Kysely, sql } from 'kysely'
import {
  type Collection,
  type CollectionPlace,
  type CollectionQuery,
  foldTitle,
  type NamedCollection,
} from '../../domain/items/collections.ts'
import type { Item, ItemKind } from '../../domain/items/items.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, privateReaderId, withinOf } from '../../domain/people/actor.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import { isId } from '../../domain/text/addresses.ts'
import { AppError } from '../../errors.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import { isInVisibleSet, isNamed, listItems, readPage, seqOf } from '../items/item-rows.ts'
import { ownersSeenBy, ownersWith, selectNamed, seqOfUser } from '../people/user-rows.ts'
import { isOneOf } from '../prepared.ts'
import type { Database } from '../schema.ts'
import {
  type CollectionRow,
  type CountCollected,
  findCollectionRow,
  findCollectionRows,
  isCollectionVisible,
  selectCollections,
} from './collection-rows.ts'

/** Words of a query that are looked at. */
const MAX_WORDS = 10

/** The members of a collection that the actor finds in lists. */
export function selectCollected(db: Kysely<Database>, actor: Actor, collectionSeq: number) {
  return db
    .selectFrom('item')
    .innerJoin('collection_item', 'collection_item.item_seq', 'item.seq')
    .where('collection_item.collection_seq', '=', collectionSeq)
    .where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
}

/** Rows as the actor sees them: with what the actor may do, and with counts of what the actor finds. */
export async function toCollections(
  db: Kysely<Database>,
  actor: Actor,
  rows: readonly CollectionRow[],
  count: CountCollected,
): Promise<Collection[]> {
  if (rows.length === 0) return []
  const counts = await count(actor, rows.map(seqOf))
  const roles = await readRoles(db, actor)
  return rows.map((row) => ({
    id: row.id,
    slug: row.slug,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    owner: row.owner_name,
    isOfTeam: row.is_team === 1,
    role: roles.get(row.owner_seq) ?? null,
    counts: counts.get(row.seq) ?? { prompt: 0, skill: 0 },
    createdAt: row.created_at,
    version: row.version,
    updatedAt: row.updated_at,
  }))
}

/** The roles of the actor, by the row number of the owner. */
async function readRoles(db: Kysely<Database>, actor: Actor): Promise<ReadonlyMap<number, TeamRole>> {
  const userId = privateReaderId(actor)
  if (userId === null) return new Map()
  const user = await seqOfUser(db, userId)
  const teams = await db.selectFrom('team_member').select(['team_seq', 'role']).where('user_seq', '=', user).execute()
  return new Map<number, TeamRole>([...teams.map(({ team_seq, role }) => [team_seq, role] as const), [user, 'maintainer']])
}

/** Reads of collections over one connection. `count` may ask the search index. */
export function readCollections(db: Kysely<Database>, count: CountCollected) {
  return {
    /** Those of the reader and their teams first, then the newest. */
    async listCollections(actor: Actor, { q, owner, item, isEditable, ...page }: CollectionQuery): Promise<SearchResult<Collection>> {
      const readerId = privateReaderId(actor)
      let all = selectCollections(db).where((eb) => isCollectionVisible(actor, 'list')(eb))
      for (const word of foldTitle(q).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)) {
        const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`
        all = all.where(sql<boolean>`collection.title_key like ${pattern} escape '\\'`)
      }
      if (owner !== undefined) all = all.where('collection.owner_seq', 'in', selectNamed(db, [owner]))
      if (isEditable) all = all.where('collection.owner_seq', 'in', ownersWith('edit', readerId))
      if (item !== undefined) {
        const holding = db
          .selectFrom('item')
          .where(isNamed(item))
          .innerJoin('collection_item', 'collection_item.item_seq', 'item.seq')
          .where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
          .select('collection_item.collection_seq')
        all = all.where('collection.seq', 'in', holding)
      }
      const ordered = all
        .orderBy((eb) => eb.case().when('collection.owner_seq', 'in', ownersSeenBy(readerId)).then(0).else(1).end())
        .orderBy('collection.created_at', 'desc')
        .orderBy('collection.seq', 'desc')
      const { rows, total } = await readPage(ordered, page)
      return { items: await toCollections(db, actor, rows, count), total }
    },
    /**
     * Those that an item is in, those of the reader and their teams first, then by title. `among` null: every one that lists show, for an item
     * that lists show; ids: these of the reader's own alone, for every item that the reader may see.
     */
    async listHolding(
      actor: Actor,
      itemId: string,
      { among, limit }: { readonly among: readonly string[] | null; readonly limit: number },
    ): Promise<readonly NamedCollection[]> {
      const readerId = privateReaderId(actor)
      const holding = db
        .selectFrom('collection')
        .innerJoin('collection_item', 'collection_item.collection_seq', 'collection.seq')
        .innerJoin('item', 'item.seq', 'collection_item.item_seq')
        .where('item.id', '=', itemId)
      const found =
        among === null
          ? holding.where((eb) => isCollectionVisible(actor, 'list')(eb)).where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
          : holding
              .where(isOneOf('collection.id', among))
              .where('collection.owner_seq', 'in', ownersSeenBy(readerId))
              .where((eb) => isInVisibleSet(visibleSet(actor, 'id'))(eb))
      return await found
        .select(['collection.id', 'collection.slug', 'collection.title', 'collection.visibility'])
        .orderBy((eb) => eb.case().when('collection.owner_seq', 'in', ownersSeenBy(readerId)).then(0).else(1).end())
        .orderBy('collection.title_key')
        .orderBy('collection.seq')
        .limit(limit)
        .execute()
    },
    /** Those of the reader and their teams, by title. */
    async listOwnNames(actor: Actor, limit: number): Promise<readonly NamedCollection[]> {
      return await db
        .selectFrom('collection')
        .select(['collection.id', 'collection.slug', 'collection.title', 'collection.visibility'])
        .where('collection.owner_seq', 'in', ownersSeenBy(privateReaderId(actor)))
        .where(isCollectionVisible(actor, 'list'))
        .orderBy('collection.title_key')
        .orderBy('collection.seq')
        .limit(limit)
        .execute()
    },
    async findCollection(actor: Actor, ref: string): Promise<Collection | null> {
      const row = await findCollectionRow(db, actor, ref)
      return row ? ((await toCollections(db, actor, [row], count))[0] ?? null) : null
    },
    /** Those of these ids and slugs that the reader may see, by these. */
    nameCollections: (actor: Actor, refs: readonly string[]): Promise<ReadonlyMap<string, NamedCollection>> =>
      findCollectionRows(db, actor, refs),
    /** The members of a collection, in its order; null for one that the reader may not see. `kind` null: both. */
    async listCollected(
      actor: Actor,
      ref: string,
      { kind, ...page }: { readonly kind: ItemKind | null; readonly limit: number; readonly offset: number },
    ): Promise<SearchResult<Item> | null> {
      const row = await findCollectionRow(db, actor, ref)
      if (!row) return null
      const all = selectCollected(db, actor, row.seq)
      const collected = kind === null ? all : all.where('item.kind', '=', kind)
      return await listItems(db, collected.select('item.seq').orderBy('collection_item.position').orderBy('item.seq'), page)
    },
  }
}

/** An open transaction of a change by one actor. */
export interface Change {
  readonly db: Kysely<Database>
  readonly notes: WriteNotes
  readonly actor: Actor
  readonly now: string
}

/** Row numbers of items by their refs, as far as the actor may see them. */
async function findVisible({ db, actor }: Change, refs: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const ids = refs.filter(isId)
  const slugs = refs.filter((ref) => !isId(ref))
  const byId =
    ids.length === 0
      ? []
      : await db
          .selectFrom('item')
          .select(['item.seq', 'item.id as ref'])
          .where('item.id', 'in', ids)
          .where(isInVisibleSet(visibleSet(actor, 'id')))
          .execute()
  const bySlug =
    slugs.length === 0
      ? []
      : await db
          .selectFrom('item')
          .innerJoin('slug', 'slug.item_seq', 'item.seq')
          .select(['item.seq', 'slug.slug as ref'])
          .where('slug.slug', 'in', slugs)
          .where((eb) => isInVisibleSet(visibleSet(actor, 'slug'))(eb))
          .execute()
  return new Map([...byId, ...bySlug].map(({ ref, seq }) => [ref, seq]))
}

/** Row numbers, by id, of what is in a collection whether the caller may see it or not: what was hidden since can be taken out by its id. */
async function findHidden(db: Kysely<Database>, ids: readonly string[], collectionSeq: number): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('collection_item')
    .innerJoin('item', 'item.seq', 'collection_item.item_seq')
    .select(['item.id', 'item.seq'])
    .where('collection_item.collection_seq', '=', collectionSeq)
    .where(isOneOf('item.id', ids))
    .execute()
  return new Map(rows.map(({ id, seq }) => [id, seq]))
}

/** The same in the order of the refs, each once. @throws AppError `not_found` for one that the actor may not see */
export async function findItems(change: Change, refs: readonly string[], collectionSeq: number | null = null): Promise<number[]> {
  const found = new Map(await findVisible(change, refs))
  if (collectionSeq !== null && withinOf(change.actor) === null)
    for (const [id, seq] of await findHidden(change.db, refs, collectionSeq)) found.set(id, seq)
  const seqs = refs.map((ref, index) => {
    const seq = found.get(ref)
    if (seq !== undefined) return seq
    throw new AppError('not_found', `items[${index}] is no prompt or skill that is visible to you. Check the id or slug.`)
  })
  return [...new Set(seqs)]
}

/** The row number of what the actor finds in the collection. @throws AppError `not_found` */
export async function findCollected(change: Change, row: CollectionRow, ref: string): Promise<number> {
  const seq = (await findVisible(change, [ref])).get(ref) ?? 0
  const found = await selectCollected(change.db, change.actor, row.seq).select('item.seq').where('item.seq', '=', seq).executeTakeFirst()
  if (found) return seq
  throw new AppError('not_found', 'This item is not in the collection, or not visible to you. Check the id or slug.')
}

/** Beside what an item is put; null where it stays. */
export async function findTarget(
  change: Change,
  row: CollectionRow,
  seq: number,
  place: CollectionPlace,
): Promise<{ readonly side: 'before' | 'after'; readonly seq: number | null } | null> {
  if (!('to' in place)) {
    const side = 'before' in place ? 'before' : 'after'
    const beside = await findCollected(change, row, 'before' in place ? place.before : place.after)
    return beside === seq ? null : { side, seq: beside }
  }
  if (place.to === 'first') return { side: 'before', seq: null }
  if (place.to === 'last') return { side: 'after', seq: null }
  const isUp = place.to === 'up'
  const { position } = await change.db
    .selectFrom('collection_item')
    .select('position')
    .where('collection_seq', '=', row.seq)
    .where('item_seq', '=', seq)
    .executeTakeFirstOrThrow()
  const next = await selectCollected(change.db, change.actor, row.seq)
    .select('item.seq')
    .where('collection_item.position', isUp ? '<' : '>', position)
    .orderBy('collection_item.position', isUp ? 'desc' : 'asc')
    .limit(1)
    .executeTakeFirst()
  return next ? { side: isUp ? 'before' : 'after', seq: next.seq } : null
}
