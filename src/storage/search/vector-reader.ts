import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { ItemKind } from '../../library/items.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import type { IndexFilter, IndexRequest } from '../../search/index/select-items.ts'
import { createCentroid } from '../../search/vectors/centroid.ts'
import type { VectorTable } from '../dialects/dialect.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { toVector } from './vector-bytes.ts'

/** Codes read before yielding to other work. */
const ROWS_A_TURN = 2000

/** Vectors per statement: always this many, so that it is compiled once. */
const VECTORS_A_STATEMENT = 256

/** Reads the vectors of one model: codes into the index, and full vectors when they are compared. */
export interface VectorReader {
  /** Reads the codes of vectors saved since the last call. */
  refresh(): Promise<void>
  /** Drops the vector of an item that is no longer public, or gone. */
  drop(seq: number): void
  /** Cosines of the query with a search's candidates; null when there are too few vectors, or their dimensions differ. */
  compare(kind: ItemKind, request: IndexRequest, vector: Float32Array): Promise<ReadonlyMap<number, number> | null>
  /** The same for `SearchIndex.similar`. */
  compareLike(kind: ItemKind, filter: IndexFilter, vector: Float32Array): Promise<ReadonlyMap<number, number> | null>
}

const newCodes = prepareQuery((db) =>
  db
    .selectFrom('embedding')
    .select(['seq', 'item_seq', 'dims', 'code'])
    .where('model', '=', sql<string>`${slot('model')}`)
    .where('seq', '>', sql<number>`${slot('after')}`)
    .orderBy('seq')
    .limit(ROWS_A_TURN),
)

/** Vectors of the public ones among `item0`, `item1`, … */
const publicVectors = prepareQuery((db) =>
  db
    .selectFrom('embedding')
    .innerJoin('embedding_vector', 'embedding_vector.embedding_seq', 'embedding.seq')
    .innerJoin('item', 'item.seq', 'embedding.item_seq')
    .select(['embedding.item_seq', 'embedding_vector.vector'])
    .where(
      'embedding.item_seq',
      'in',
      Array.from({ length: VECTORS_A_STATEMENT }, (_, i) => sql<number>`${slot(`item${i}`)}`),
    )
    .where('embedding.model', '=', sql<string>`${slot('model')}`)
    .where('item.visibility', '=', 'public')
    .where('item.deleted_at', 'is', null),
)

/** A reader of one model's vectors. @param table set when the engine can compare vectors itself */
export function readVectors(db: Kysely<Database>, index: SearchIndex, model: string, table: VectorTable | null): VectorReader {
  const { codes } = index
  const centroid = createCentroid()
  let last = 0

  const drop = (seq: number): void => {
    codes.remove(seq)
    centroid.invalidate(seq)
  }
  /** Vectors of public items, by row number. Items without one are dropped. */
  const readExactly = (seqs: readonly number[]): Promise<ReadonlyMap<number, Float32Array>> => dropMissing(seqs, readAll)
  const readAll = async (seqs: readonly number[]): Promise<ReadonlyMap<number, Float32Array>> => {
    const vectors = new Map<number, Float32Array>()
    for (let at = 0; at < seqs.length; at += VECTORS_A_STATEMENT) {
      const part = seqs.slice(at, at + VECTORS_A_STATEMENT)
      const values = Object.fromEntries(part.map((seq, i) => [`item${i}`, seq]))
      for (const row of await publicVectors(db, { ...values, model })) vectors.set(row.item_seq, toVector(row.vector))
    }
    return vectors
  }
  const dropMissing = async <T>(
    seqs: readonly number[],
    read: (seqs: readonly number[]) => Promise<ReadonlyMap<number, T>>,
  ): Promise<ReadonlyMap<number, T>> => {
    const lastBefore = last
    const found = await read(seqs)
    // Codes that arrived meanwhile may not be in these rows.
    if (last === lastBefore) for (const seq of seqs) if (!found.has(seq)) drop(seq)
    return found
  }
  /** Gives a function for the cosine with `vector`; null when there is no mean yet. */
  const prepare = async (vector: Float32Array): Promise<((other: Float32Array) => number) | null> => {
    for (;;) {
      const sample = centroid.chooseSample(codes.seqs, codes.size)
      if (!sample) return centroid.compareWith(vector)
      const vectors = await readExactly(sample)
      // If an item is gone, its code was dropped: sample again.
      if (vectors.size === sample.length) centroid.learn(vectors, codes.size)
    }
  }
  const compare = async (vector: Float32Array, choose: () => readonly number[]): Promise<ReadonlyMap<number, number> | null> => {
    const cosineWith = await prepare(vector)
    if (!cosineWith) return null
    const { mean } = centroid
    if (table && mean) return await dropMissing(choose(), (seqs) => table.compare(db, { model, seqs, query: vector, centre: mean }))
    const cosines = new Map<number, number>()
    for (const [seq, other] of await readExactly(choose())) cosines.set(seq, cosineWith(other))
    return cosines
  }
  return {
    drop,
    async refresh() {
      for (;;) {
        const rows = await newCodes(db, { model, after: last })
        for (const row of rows) {
          centroid.invalidate(row.item_seq)
          codes.put(row.item_seq, row.dims, row.code)
        }
        last = rows.at(-1)?.seq ?? last
        if (rows.length < ROWS_A_TURN) break
        await nextTurn()
      }
    },
    compare: (kind, request, vector) => compare(vector, () => index.chooseCandidates(kind, request, vector)),
    compareLike: (kind, filter, vector) => compare(vector, () => index.chooseSimilarCandidates(kind, filter, vector)),
  }
}
