import type { Kysely } from 'kysely'
import type { CollectionPlace } from '../../domain/items/collections.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, withinOf } from '../../domain/people/actor.ts'
import { isId } from '../../domain/text/identifier.ts'
import { AppError } from '../../errors.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import { isInVisibleSet } from '../items/item-rows.ts'
import { isOneOf } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { CollectionRow } from './collection-rows.ts'
import { selectCollected } from './read-collections.ts'

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
