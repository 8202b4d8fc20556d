import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { ItemKind } from '../../domain/items/items.ts'
import { othersMaySee, type Reach, standingOf, visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, privateReaderId, withinOf } from '../../domain/people/actor.ts'
import { isId } from '../../domain/text/addresses.ts'
import { isInVisibleSet } from '../items/item-rows.ts'
import { ownersSeenBy } from '../people/user-rows.ts'
import { isOneOf, prepareListQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** A query for collections with their owners; the caller adds conditions. */
export function selectCollections(db: Kysely<Database>) {
  return db
    .selectFrom('collection')
    .innerJoin('user as owner', 'owner.seq', 'collection.owner_seq')
    .selectAll('collection')
    .select(['owner.id as owner_id', 'owner.username as owner_name', 'owner.is_team'])
}

/** A collection's row with its owner. */
export type CollectionRow = Awaited<ReturnType<ReturnType<typeof selectCollections>['execute']>>[number]

/** The visibility rule for collections: the table that items have. A narrowed key sees those of its team, or those it is narrowed to. */
export function isCollectionVisible(actor: Actor, reach: Reach) {
  const within = withinOf(actor)
  return (eb: ExpressionBuilder<Database, 'collection'>) =>
    eb.and([
      eb.or([
        isOneOf('collection.visibility', othersMaySee(standingOf(actor), reach)),
        eb('collection.owner_seq', 'in', ownersSeenBy(privateReaderId(actor))),
      ]),
      ...(within === null
        ? []
        : 'team' in within
          ? [eb('collection.owner_seq', '=', eb.selectFrom('user').select('user.seq').where('user.id', '=', within.team))]
          : [isOneOf('collection.id', within.collections)]),
    ])
}

/** The rows of the collections that some ids and slugs name, by these, as far as the actor may see them; an id wins over a slug. */
export async function findCollectionRows(
  db: Kysely<Database>,
  actor: Actor,
  refs: readonly string[],
): Promise<ReadonlyMap<string, CollectionRow>> {
  const [ids, slugs] = [refs.filter(isId), refs.filter((ref) => !isId(ref))]
  const byId = selectCollections(db)
    .where(isOneOf('collection.id', ids))
    .where((eb) => isCollectionVisible(actor, 'id')(eb))
  const bySlug = selectCollections(db)
    .innerJoin('collection_slug', 'collection_slug.collection_seq', 'collection.seq')
    .select('collection_slug.slug as ref')
    .where(isOneOf('collection_slug.slug', slugs))
    .where((eb) => isCollectionVisible(actor, 'slug')(eb))
  const rows = new Map<string, CollectionRow>()
  if (ids.length > 0) for (const row of await byId.execute()) rows.set(row.id, row)
  if (slugs.length > 0) for (const { ref, ...row } of await bySlug.execute()) rows.set(ref, row)
  return rows
}

/** The row of the collection that an id or a slug names, when the actor may see it. */
export async function findCollectionRow(db: Kysely<Database>, actor: Actor, ref: string): Promise<CollectionRow | null> {
  return (await findCollectionRows(db, actor, [ref])).get(ref) ?? null
}

/** Row numbers of the collections of these ids and slugs that the actor may see. */
export async function findCollectionSeqs(db: Kysely<Database>, actor: Actor, refs: readonly string[]): Promise<number[]> {
  const rows = await findCollectionRows(db, actor, [...new Set(refs)])
  return [...new Set(Array.from(rows.values(), ({ seq }) => seq))]
}

/**
 * Row numbers of the collections that a key is narrowed to and sees: `own` are of its owner and the owner's teams. In `others`, items count
 * that anybody in the owner's place finds (`isWithin`).
 */
export async function findNarrowedSeqs(db: Kysely<Database>, actor: Actor): Promise<{ own: number[]; others: number[] }> {
  const rows = await db
    .selectFrom('collection')
    .select(['collection.seq', (eb) => eb('collection.owner_seq', 'in', ownersSeenBy(privateReaderId(actor))).as('is_own')])
    .where((eb) => isCollectionVisible(actor, 'id')(eb))
    .execute()
  const [own, others] = [rows.filter((row) => Boolean(row.is_own)), rows.filter((row) => !row.is_own)]
  return { own: own.map(({ seq }) => seq), others: others.map(({ seq }) => seq) }
}

/** One text for each collection: ten thousand rows take ten times as long to come over. */
const rowsOf = prepareListQuery((db, seqs) =>
  db
    .selectFrom('collection_item')
    .select(['collection_seq', sql<string>`string_agg(cast(item_seq as text), ',')`.as('items')])
    .where('collection_seq', 'in', seqs)
    .groupBy('collection_seq'),
)

/** Row numbers of the items in each of some collections, by the collection's row number; whoever may see them, in no order. */
export async function readCollectedRows(db: Kysely<Database>, seqs: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>> {
  const rows = seqs.length === 0 ? [] : await rowsOf(db, seqs)
  const found = new Map(rows.map(({ collection_seq: seq, items }) => [seq, items.split(',').map(Number)]))
  return new Map(seqs.map((seq) => [seq, found.get(seq) ?? []]))
}

/** How many items of each kind the actor finds in a collection, by the collection's row number. */
type CollectedCounts = ReadonlyMap<number, Readonly<Record<ItemKind, number>>>

/** Counts what is in collections, as far as the actor finds it in lists. */
export type CountCollected = (actor: Actor, collectionSeqs: readonly number[]) => Promise<CollectedCounts>

/** Counts in the tables: inside a transaction of several operations, and until the index is loaded. It takes 40 µs for each row. */
export function countInTables(db: Kysely<Database>): CountCollected {
  return async (actor, collectionSeqs) => {
    const counts = new Map(collectionSeqs.map((seq) => [seq, { prompt: 0, skill: 0 }]))
    const rows = await db
      .selectFrom('item')
      .innerJoin('collection_item', 'collection_item.item_seq', 'item.seq')
      .select(['collection_item.collection_seq', 'item.kind', (eb) => eb.fn.countAll<number>().as('count')])
      .where(isOneOf('collection_item.collection_seq', collectionSeqs))
      .where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
      .groupBy(['collection_item.collection_seq', 'item.kind'])
      .execute()
    for (const { collection_seq: seq, kind, count } of rows) {
      const counted = counts.get(seq)
      if (counted) counted[kind] = Number(count)
    }
    return counts
  }
}
