import { type Kysely, sql } from 'kysely'
import type { RowNumbers } from '../../search/index/viewer.ts'
import { prepareListQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** Row numbers of the items in each of some collections, by the collection's row number; whoever may see them, in no order. */
export type ReadCollected = (collectionSeqs: readonly number[]) => Promise<ReadonlyMap<number, Uint32Array>>

/** One text for each collection: ten thousand rows take ten times as long to come over. */
const rowsOf = prepareListQuery((db, seqs) =>
  db
    .selectFrom('collection_item')
    .select(['collection_seq', sql<string>`string_agg(cast(item_seq as text), ',')`.as('items')])
    .where('collection_seq', 'in', seqs)
    .groupBy('collection_seq'),
)

/** Reads over one connection. */
export function readCollectedRows(db: Kysely<Database>): ReadCollected {
  return async (collectionSeqs) => {
    const rows = new Map(collectionSeqs.map((seq) => [seq, new Uint32Array(0)]))
    if (rows.size === 0) return rows
    for (const { collection_seq: seq, items } of await rowsOf(db, [...rows.keys()]))
      rows.set(seq, Uint32Array.from(items.split(','), Number))
    return rows
  }
}

/** The union of some lists of row numbers: a bit for each number up to the highest. */
export function uniteRows(lists: Iterable<Uint32Array>): RowNumbers {
  const all = [...lists]
  const highest = all.reduce((most, list) => list.reduce((high, seq) => Math.max(high, seq), most), 0)
  const bits = new Uint8Array((highest >>> 3) + 1)
  const has = (seq: number) => (((bits[seq >>> 3] ?? 0) >>> (seq & 7)) & 1) === 1
  let size = 0
  for (const list of all) {
    for (const seq of list) {
      if (has(seq)) continue
      bits[seq >>> 3] = (bits[seq >>> 3] ?? 0) | (1 << (seq & 7))
      size++
    }
  }
  return { has, size }
}
