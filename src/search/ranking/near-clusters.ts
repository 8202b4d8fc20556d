import type { IndexView } from '../index/kind-index.ts'
import { makeFilter } from '../index/select-items.ts'
import { STRANGER } from '../index/viewer.ts'
import { lengthOf } from '../vectors/embedder.ts'

/** Rows compared with all later ones in a slice: a few milliseconds at 2,000 items. */
const ROWS_A_SLICE = 5

/** A copy of the encoder's vectors of public items, of unit length, which changes of the index leave alone. */
export interface SentenceSnapshot {
  readonly seqs: readonly number[]
  readonly vectors: readonly Float32Array[]
  /** Public items with a vector, those beyond the bound included. */
  readonly total: number
}

/** Copies the vectors of the newest public items. */
export function copySentences(index: IndexView, maxItems: number): SentenceSnapshot {
  const { table, byAge } = index
  const isVisible = makeFilter(index, {}, STRANGER)
  const slots = byAge().filter((slot) => isVisible(slot) && table.sentenceVectors.has(slot))
  const newest = slots.toReversed().slice(0, maxItems)
  const unit = (vector: Int8Array) => {
    const length = lengthOf(vector)
    return Float32Array.from(vector, (value) => value / length)
  }
  return {
    seqs: newest.map((slot) => table.seq[slot] ?? 0),
    vectors: newest.map((slot) => unit(table.sentenceVectors.get(slot) ?? new Int8Array(0))),
    total: slots.length,
  }
}

/** Groups items that are joined by cosines of at least `minCosine`, largest first. Yields between slices, for other work. */
export function* clusterSentences({ seqs, vectors }: SentenceSnapshot, minCosine: number): Generator<void, number[][]> {
  const parents = seqs.map((_, place) => place)
  const rootOf = (place: number): number => {
    let root = place
    while (parents[root] !== root) root = parents[root] ?? root
    return root
  }
  for (const [row, vector] of vectors.entries()) {
    if (row % ROWS_A_SLICE === ROWS_A_SLICE - 1) yield
    for (let other = row + 1; other < vectors.length; other++) {
      if (multiply(vector, vectors[other] ?? vector) >= minCosine) parents[rootOf(other)] = rootOf(row)
    }
  }
  const clusters = new Map<number, number[]>()
  for (const [place, seq] of seqs.entries()) {
    const root = rootOf(place)
    clusters.set(root, [...(clusters.get(root) ?? []), seq])
  }
  return [...clusters.values()].filter(({ length }) => length > 1).sort((a, b) => b.length - a.length)
}

function multiply(a: Float32Array, b: Float32Array): number {
  let product = 0
  for (let i = 0; i < a.length; i++) product += (a[i] ?? 0) * (b[i] ?? 0)
  return product
}
