import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/** Room between two neighbours when they are numbered anew. */
const GAP = 2 ** 32
/** Items first looked at on each side of a place without room. */
const FIRST_WIDTH = 32
/** Least room between neighbours that moved apart: enough for 16 halvings. */
const MIN_GAP = 2 ** 16
/** Far below what a number holds exactly. */
const MAX_POSITION = 2 ** 52

/** The position of the item at a place of a new collection, counted from 0. */
export function placeAt(index: number): number {
  return (index + 1) * GAP
}

/** The position of an item of a collection. */
async function positionOf(db: Kysely<Database>, collectionSeq: number, itemSeq: number): Promise<number> {
  const { position } = await db
    .selectFrom('collection_item')
    .select('position')
    .where('collection_seq', '=', collectionSeq)
    .where('item_seq', '=', itemSeq)
    .executeTakeFirstOrThrow()
  return Number(position)
}

/** The positions between which something is put: beside an item, or at an end. Null: nothing is on that side. */
async function findRoom(
  db: Kysely<Database>,
  collectionSeq: number,
  side: 'before' | 'after',
  itemSeq: number | null,
): Promise<{ readonly left: number | null; readonly right: number | null }> {
  const here = itemSeq === null ? null : await positionOf(db, collectionSeq, itemSeq)
  const all = db.selectFrom('collection_item').where('collection_seq', '=', collectionSeq)
  if (side === 'before') {
    const below = here === null ? all : all.where('position', '<', here)
    if (here === null) {
      const { first } = await all.select((eb) => eb.fn.min('position').as('first')).executeTakeFirstOrThrow()
      return { left: null, right: toNumber(first) }
    }
    const { last } = await below.select((eb) => eb.fn.max('position').as('last')).executeTakeFirstOrThrow()
    return { left: toNumber(last), right: here }
  }
  if (here === null) {
    const { last } = await all.select((eb) => eb.fn.max('position').as('last')).executeTakeFirstOrThrow()
    return { left: toNumber(last), right: null }
  }
  const { first } = await all
    .where('position', '>', here)
    .select((eb) => eb.fn.min('position').as('first'))
    .executeTakeFirstOrThrow()
  return { left: here, right: toNumber(first) }
}

function toNumber(value: number | null): number | null {
  return value === null ? null : Number(value)
}

/** `count` positions in order, or null where there is no room for them. */
function divide(left: number | null, right: number | null, count: number): number[] | null {
  const places = Array.from({ length: count }, (_, index) => index + 1)
  const positions =
    left === null
      ? places.map((place) => (right ?? GAP) - (count + 1 - place) * GAP)
      : right === null
        ? places.map((place) => left + place * GAP)
        : places.map((place) => left + Math.floor((right - left) / (count + 1)) * place)
  const isInRoom = right === null || left === null || right - left > count
  return isInRoom && positions.every((position) => Math.abs(position) < MAX_POSITION) ? positions : null
}

/**
 * Positions for `count` items beside one of the collection, or at its beginning (`before` null) or end (`after` null). Where there is no room
 * left, items around the place move apart, in their order.
 */
export async function makeRoom(
  db: Kysely<Database>,
  collectionSeq: number,
  side: 'before' | 'after',
  itemSeq: number | null,
  count: number,
): Promise<number[]> {
  const room = await findRoom(db, collectionSeq, side, itemSeq)
  const positions = divide(room.left, room.right, count)
  if (positions) return positions
  if (room.left === null || room.right === null || !(await moveApart(db, collectionSeq, room.left, room.right))) {
    await numberAnew(db, collectionSeq)
  }
  const { left, right } = await findRoom(db, collectionSeq, side, itemSeq)
  return divide(left, right, count) ?? []
}

/**
 * Spreads items around the place between two neighbours: up to `FIRST_WIDTH` on each side, and more while that gives too little room. Moves
 * only what lies between two items that stay.
 * @param left position of the neighbour below
 * @param right position of the neighbour above
 * @returns false, with nothing changed, when the whole collection has too little room
 */
async function moveApart(db: Kysely<Database>, collectionSeq: number, left: number, right: number): Promise<boolean> {
  const all = db.selectFrom('collection_item').where('collection_seq', '=', collectionSeq).select('position')
  for (let width = FIRST_WIDTH; ; width *= 4) {
    const below = await all.where('position', '<=', left).orderBy('position', 'desc').limit(width).execute()
    const above = await all.where('position', '>=', right).orderBy('position').limit(width).execute()
    const [first, last] = [Number(below.at(-1)?.position ?? left), Number(above.at(-1)?.position ?? right)]
    const gap = Math.floor((last - first) / (below.length + above.length - 1))
    if (gap > MIN_GAP) {
      await sql`
        update collection_item set position = ordered.position
        from (
          select item_seq, cast(${sql.lit(first)} as bigint) + cast(${sql.lit(gap)} as bigint) * row_number() over (order by position, item_seq) as position
          from collection_item where collection_seq = ${sql.lit(collectionSeq)} and position > ${sql.lit(first)} and position < ${sql.lit(last)}
        ) as ordered
        where collection_item.collection_seq = ${sql.lit(collectionSeq)} and collection_item.item_seq = ordered.item_seq`.execute(db)
      return true
    }
    if (below.length < width && above.length < width) return false
  }
}

async function numberAnew(db: Kysely<Database>, collectionSeq: number): Promise<void> {
  await sql`
    update collection_item set position = ordered.place * ${sql.lit(GAP)}
    from (
      select item_seq, row_number() over (order by position, item_seq) as place
      from collection_item where collection_seq = ${sql.lit(collectionSeq)}
    ) as ordered
    where collection_item.collection_seq = ${sql.lit(collectionSeq)} and collection_item.item_seq = ordered.item_seq`.execute(db)
}
