import type { IndexView } from '../index/kind-index.ts'
import type { Embedder } from '../vectors/embedder.ts'
import { lengthOf } from '../vectors/embedder.ts'
import type { VectorColumns } from '../vectors/vector-columns.ts'
import { DIMS } from '../vectors/word-vectors.ts'
import type { QueryPlan } from './plan.ts'

/** Up to this many items are all compared; of more, only those with the nearest sign bits. */
const EXACT_UP_TO = 512
const COARSE = 400

/** Cosines of items with one query. */
export interface MeaningScores {
  /** Cosine of the slot's item, -1 to 1; 0 when it has no vector. */
  cosineOf(slot: number): number
  /** The `limit` nearest candidates that are near enough, nearest first. */
  nearest(isCandidate: (slot: number) => boolean, limit: number): { slot: number; cosine: number }[]
}

/** The weighted sum of the query words' vectors; null when no word has one. */
export function queryVector(plan: QueryPlan, embedder: Embedder): Float32Array | null {
  const sum = new Float32Array(DIMS)
  for (const group of plan.groups) {
    const known = embedder.wordVector(group.word)
    if (!known) continue
    for (let i = 0; i < DIMS; i++) sum[i] = (sum[i] ?? 0) + known.weight * (known.vector[i] ?? 0)
  }
  return lengthOf(sum) > 0 ? sum : null
}

/** Cosines of a query vector with the vectors of a column. @param minCosine least cosine of what `nearest` gives */
export function scoreMeaning(index: IndexView, columns: VectorColumns, vector: Float32Array, minCosine: number): MeaningScores {
  const { table } = index
  const cosineOf = columns.compareWith(vector)
  return {
    cosineOf,
    nearest(isCandidate, limit) {
      const slots = index.totals.items <= EXACT_UP_TO ? allSlots(index, isCandidate) : likelySlots(index, columns, vector, isCandidate)
      const near: { slot: number; cosine: number }[] = []
      for (const slot of slots) {
        const cosine = cosineOf(slot)
        if (cosine >= minCosine) near.push({ slot, cosine })
      }
      return near.sort((a, b) => b.cosine - a.cosine || (table.seq[b.slot] ?? 0) - (table.seq[a.slot] ?? 0)).slice(0, limit)
    },
  }
}

/** Uses the first where `has` says so, and the second for the other slots. */
export function combineScores(first: MeaningScores, has: (slot: number) => boolean, second: MeaningScores | null): MeaningScores {
  return {
    cosineOf: (slot) => (has(slot) ? first.cosineOf(slot) : (second?.cosineOf(slot) ?? 0)),
    nearest(isCandidate, limit) {
      const near = first.nearest((slot) => has(slot) && isCandidate(slot), limit)
      const others = second?.nearest((slot) => !has(slot) && isCandidate(slot), limit) ?? []
      return others.length === 0 ? near : [...near, ...others].sort((a, b) => b.cosine - a.cosine).slice(0, limit)
    },
  }
}

function allSlots({ table }: IndexView, isCandidate: (slot: number) => boolean): number[] {
  const slots: number[] = []
  for (let slot = 0; slot < table.capacity; slot++) if (isCandidate(slot)) slots.push(slot)
  return slots
}

/** Candidates with the nearest sign bits: at least `COARSE`. */
function likelySlots({ table }: IndexView, columns: VectorColumns, query: Float32Array, isCandidate: (slot: number) => boolean): number[] {
  const dims = query.length
  const none = dims + 1
  const isIn = new Uint8Array(table.capacity)
  let candidates = 0
  for (let slot = 0; slot < isIn.length; slot++) {
    if (!isCandidate(slot)) continue
    isIn[slot] = 1
    candidates++
  }
  // Often there are none: every item has a vector by the encoder, and those without are asked for.
  if (candidates === 0) return []
  const distances = columns.compareSigns(query, table.capacity)
  const histogram = new Uint32Array(dims + 1)
  for (let slot = 0; slot < distances.length; slot++) {
    const distance = distances[slot] ?? none
    if (isIn[slot] === 1) histogram[distance] = (histogram[distance] ?? 0) + 1
    else distances[slot] = none
  }
  let limit = 0
  for (let sum = 0; limit <= dims && sum < COARSE; limit++) sum += histogram[limit] ?? 0
  const found: number[] = []
  for (let slot = 0; slot < distances.length; slot++) if ((distances[slot] ?? none) < limit) found.push(slot)
  return found
}
