import { SIGN_WORDS } from './item-table.ts'
import { countBits } from './vocabulary.ts'
import { DIMS, type WordVectors } from './word-vectors.ts'

/** Least cosine at which a word counts as near another. */
const MIN_COSINE = 0.5
/** Neighbours kept of one word. */
const MAX_NEIGHBOURS = 250
/** Words that pass the coarse look by signs and are compared exactly. */
const EXACT = 1500
/** Words whose neighbours are remembered. */
const MAX_REMEMBERED = 2000

/** A word of general English near another in meaning. */
export interface Neighbour {
  readonly word: string
  /** From `MIN_COSINE` to 1. */
  readonly cosine: number
}

/** Finds the words general English uses like a word, nearest first; empty for a word it does not know. Remembers what it found. */
export function createNeighbours(vectors: WordVectors): (word: string) => readonly Neighbour[] {
  const remembered = new Map<string, readonly Neighbour[]>()
  let signs: Uint32Array | null = null
  let lengths = new Float32Array(0)
  const prepare = (): Uint32Array => {
    const made = new Uint32Array(vectors.size * SIGN_WORDS)
    lengths = new Float32Array(vectors.size)
    for (let row = 0; row < vectors.size; row++) {
      const vector = vectors.vectorOf(row)
      let squares = 0
      for (let i = 0; i < DIMS; i++) {
        const value = vector[i] ?? 0
        squares += value * value
        if (value > 0) made[row * SIGN_WORDS + (i >> 5)] = (made[row * SIGN_WORDS + (i >> 5)] ?? 0) | (1 << (i & 31))
      }
      lengths[row] = Math.sqrt(squares)
    }
    return made
  }
  const find = (self: number): readonly Neighbour[] => {
    signs ??= prepare()
    const all = signs
    const [first = 0, second = 0, third = 0] = all.subarray(self * SIGN_WORDS, (self + 1) * SIGN_WORDS)
    const distances = new Uint8Array(vectors.size)
    const histogram = new Uint32Array(DIMS + 1)
    for (let row = 0, at = 0; row < vectors.size; row++, at += SIGN_WORDS) {
      const distance = countBits((all[at] ?? 0) ^ first) + countBits((all[at + 1] ?? 0) ^ second) + countBits((all[at + 2] ?? 0) ^ third)
      distances[row] = distance
      histogram[distance] = (histogram[distance] ?? 0) + 1
    }
    let limit = 0
    for (let sum = 0; limit < DIMS && sum + (histogram[limit] ?? 0) <= EXACT; limit++) sum += histogram[limit] ?? 0
    const own = vectors.vectorOf(self)
    const found: Neighbour[] = []
    for (let row = 0; row < vectors.size; row++) {
      if ((distances[row] ?? DIMS) >= limit || row === self) continue
      const vector = vectors.vectorOf(row)
      let product = 0
      for (let i = 0; i < DIMS; i++) product += (own[i] ?? 0) * (vector[i] ?? 0)
      const cosine = product / ((lengths[row] ?? 1) * (lengths[self] ?? 1))
      if (cosine >= MIN_COSINE) found.push({ word: vectors.wordOf(row), cosine })
    }
    return found.sort((a, b) => b.cosine - a.cosine).slice(0, MAX_NEIGHBOURS)
  }
  return (word) => {
    const known = remembered.get(word)
    if (known) return known
    const row = vectors.find(word)
    const found = row < 0 ? [] : find(row)
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(word, found)
    return found
  }
}
