import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * Makes room for `count` items beside one of the collection, or at its beginning (`before` null) or end (`after` null): what follows moves
 * on, in one statement. Positions say the order alone; those of items that were taken out stay free.
 * @returns the position of the first of them
 */
export async function makeRoom(
  db: Kysely<Database>,
  collectionSeq: number,
  side: 'before' | 'after',
  itemSeq: number | null,
  count: number,
): Promise<number> {
  const all = db.selectFrom('collection_item').where('collection_seq', '=', collectionSeq)
  const beside = itemSeq === null ? all : all.where('item_seq', '=', itemSeq)
  const { first, last } = await beside
    .select((eb) => [eb.fn.min('position').as('first'), eb.fn.max('position').as('last')])
    .executeTakeFirstOrThrow()
  const at = side === 'before' ? Number(first ?? 1) : Number(last ?? 0) + 1
  await db
    .updateTable('collection_item')
    .set((eb) => ({ position: eb('position', '+', count) }))
    .where('collection_seq', '=', collectionSeq)
    .where('position', '>=', at)
    .execute()
  return at
}
