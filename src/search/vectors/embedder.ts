import { COUNT_MASK, IN_DESCRIPTION, IN_TAGS, IN_TITLE, type IndexedText } from '../analysis/indexed-text.ts'
import { STOP_WORDS } from '../analysis/words.ts'
import { DIMS, type WordVectors } from './word-vectors.ts'

/** Share of the title in an item's vector; the rest is description, tags and content. */
const TITLE_SHARE = 0.4
/** Smooth inverse frequency (Arora, Liang, Ma 2017): a word weighs `a / (a + p)`, where `p` is its share of all words. */
const SMOOTHING = 1e-4
/** Zipf's law: the word of rank n has about this share divided by n + 1. */
const TOP_SHARE = 0.1

/** Computes text vectors from word vectors. Pure: the same text gives the same vector in every process. */
export type Embedder = ReturnType<typeof createEmbedder>

/** The built-in embedder: a weighted mean of word vectors. A word without one adds nothing. */
export function createEmbedder(vectors: WordVectors) {
  const weigh = (row: number) => SMOOTHING / (SMOOTHING + TOP_SHARE / (vectors.rankOf(row) + 1))
  /** Rows of the words used so far, as many as there are: texts repeat their words, and `find` costs more. */
  const rows = new Map<string, number>()
  const findRow = (word: string): number => {
    const known = rows.get(word)
    if (known !== undefined) return known
    const row = vectors.find(word)
    // Not the caller's string: it may be a piece of a long text, and hold all of it in memory.
    if (row >= 0) rows.set(vectors.wordOf(row), row)
    return row
  }
  /** Of the rows used so far; 0 for others. */
  const lengths = new Float64Array(vectors.size)
  const addRow = (to: Float32Array, row: number, count: number): void => {
    const vector = vectors.vectorOf(row)
    const length = lengths[row] || lengthOf(vector)
    lengths[row] = length
    const factor = (weigh(row) * Math.sqrt(count)) / length
    for (let i = 0; i < DIMS; i++) to[i] = (to[i] ?? 0) + factor * (vector[i] ?? 0)
  }
  return {
    /** An item's vector: `DIMS` integers from -127 to 127; null when none of its words has a vector. */
    embedItem(text: IndexedText): Int8Array | null {
      const title = new Float32Array(DIMS)
      const body = new Float32Array(DIMS)
      for (const [word, code] of text.words) {
        if (STOP_WORDS.has(word) || /^\d+$/.test(word)) continue
        const row = findRow(word)
        if (row < 0) continue
        if (code & IN_TITLE) addRow(title, row, 1)
        const count = (code & COUNT_MASK) + (code & IN_DESCRIPTION ? 1 : 0) + (code & IN_TAGS ? 1 : 0)
        if (count > 0) addRow(body, row, count)
      }
      const sum = new Float32Array(DIMS)
      for (const [part, share] of [
        [title, TITLE_SHARE],
        [body, 1 - TITLE_SHARE],
      ] as const) {
        const length = lengthOf(part)
        if (length > 0) for (let i = 0; i < DIMS; i++) sum[i] = (sum[i] ?? 0) + (share * (part[i] ?? 0)) / length
      }
      return toBytes(sum)
    },
    /** A word's unit vector and weight; null when general English does not know it. */
    wordVector(word: string): { vector: Float32Array; weight: number } | null {
      const row = findRow(word)
      if (row < 0) return null
      const vector = Float32Array.from(vectors.vectorOf(row))
      const length = lengthOf(vector)
      for (let i = 0; i < DIMS; i++) vector[i] = (vector[i] ?? 0) / length
      return { vector, weight: weigh(row) }
    },
    /** Whether general English knows the word. */
    isKnown: (word: string): boolean => findRow(word) >= 0,
  }
}

/** Euclidean length. */
export function lengthOf(vector: Float32Array | Float64Array | Int8Array): number {
  let sum = 0
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) ** 2
  return Math.sqrt(sum)
}

/** Scales a vector to bytes, its largest component to 127; null for the zero vector. */
export function toBytes(vector: Float32Array): Int8Array | null {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  return largest === 0 ? null : Int8Array.from(vector, (value) => Math.round((value / largest) * 127))
}
