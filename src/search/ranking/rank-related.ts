import type { Viewer } from '../index/item-table.ts'
import type { IndexView } from '../index/kind-index.ts'
import { makeFilter } from '../index/select-items.ts'
import { MIN_ITEMS } from '../vectors/arithmetic.ts'
import { lengthOf } from '../vectors/embedder.ts'
import { scoreMeaning } from './scores.ts'

/** Least cosine of two related items: 95 % of pairs taken at random are below it; see docs/decisions/0016. */
const MIN_COSINE = 0.33
/** The same for vectors of the word table. */
const MIN_WORD_COSINE = 0.72

/** Least cosine of the encoder's vectors of two items that are called nearly the same; see docs/decisions/0038. Those of words say too little. */
const NEARLY_SAME = 0.9

/** An item near another in meaning. */
export interface NearItem {
  readonly seq: number
  /** Their cosine, 0 to 1. */
  readonly similarity: number
  readonly isNearlySame: boolean
}

/**
 * Items a viewer finds that are nearest to an item in meaning, nearest first, with their cosines. By the vectors of the word table while
 * the item has no vector of the encoder; then none in a small library, where nearest does not mean near.
 */
export function rankRelated(index: IndexView, seq: number, viewer: Viewer, limit: number): NearItem[] {
  const { table, totals } = index
  const own = index.slotOf(seq)
  const isVisible = makeFilter(index, {}, viewer)
  if (own === undefined) return []
  const encoded = toUnit(table.sentenceVectors.get(own))
  const sentence = encoded && table.sentenceVectors.canCompare(encoded) ? encoded : null
  const vector = sentence ?? toUnit(table.wordVectors.get(own))
  if (!vector || (!sentence && totals.items < MIN_ITEMS)) return []
  const [columns, minCosine] = sentence ? [table.sentenceVectors, MIN_COSINE] : [table.wordVectors, MIN_WORD_COSINE]
  return scoreMeaning(index, columns, vector, minCosine)
    .nearest((slot) => slot !== own && isVisible(slot), limit)
    .map(({ slot, cosine }) => ({
      seq: table.seq[slot] ?? 0,
      similarity: Math.min(1, cosine),
      isNearlySame: !!sentence && cosine >= NEARLY_SAME,
    }))
}

function toUnit(vector: Int8Array | null): Float32Array | null {
  if (!vector) return null
  const length = lengthOf(vector)
  return Float32Array.from(vector, (value) => value / length)
}
