import type { Vocabulary } from '../index/vocabulary.ts'
import { dotProduct, hammingDistances, signWords, toSignBits } from './arithmetic.ts'
import { lengthOf } from './embedder.ts'
import { DIMS, type WordVectors } from './word-vectors.ts'

/** 32-bit words of a vector's sign bits. */
const SIGN_WORDS = signWords(DIMS)

/** Least cosine of a neighbour. */
const MIN_COSINE = 0.5
/** Candidates with a larger Hamming distance are skipped. At the least cosine a third of the bits differ on average (Charikar 2002). */
const MAX_HAMMING_DISTANCE = 36
/** Words whose neighbours are cached; at some 25 neighbours each, about 5 MB. A word that was asked for lately stays. */
const MAX_CACHED = 4000

/** A vocabulary word near another in meaning. */
export interface Neighbour {
  readonly id: number
  /** From `MIN_COSINE` to 1. */
  readonly cosine: number
}

/**
 * Finds the vocabulary words nearest to a word in meaning, nearest first; none for a word without a vector.
 * Caches results, and compares only words added since.
 */
export function createNeighbours(vectors: WordVectors, vocabulary: Vocabulary): (word: string) => readonly Neighbour[] {
  const cache = new Map<string, { upTo: number; found: readonly Neighbour[] }>()
  /** Vocabulary words that have a vector: numbers, rows, lengths, sign bits and the vectors, one after the other. */
  const ids: number[] = []
  const rows: number[] = []
  const lengths: number[] = []
  let signs = new Uint32Array(1024 * SIGN_WORDS)
  let copies = new Int8Array(1024 * DIMS)
  let distances = new Uint16Array(1024)
  let readUpTo = 0
  let { generation } = vocabulary

  const readVocabulary = (): void => {
    const { capacity } = vocabulary
    if (generation !== vocabulary.generation) {
      generation = vocabulary.generation
      for (const list of [ids, rows, lengths]) list.length = 0
      cache.clear()
      readUpTo = 0
    }
    if (capacity - readUpTo > vectors.size) {
      // Of many new words few have a vector: looking up those that have one is faster.
      for (let row = 0; row < vectors.size; row++) {
        const id = vocabulary.idOf(vectors.wordOf(row))
        if (id !== undefined && id >= readUpTo) addWord(id, row)
      }
    } else {
      for (let id = readUpTo; id < capacity; id++) {
        const row = vectors.find(vocabulary.wordOf(id))
        if (row >= 0) addWord(id, row)
      }
    }
    readUpTo = capacity
  }
  const addWord = (id: number, row: number): void => {
    if ((ids.length + 1) * SIGN_WORDS > signs.length) {
      const larger = new Uint32Array(signs.length * 2)
      larger.set(signs)
      signs = larger
      const longer = new Int8Array(copies.length * 2)
      longer.set(copies)
      copies = longer
      distances = new Uint16Array(signs.length / SIGN_WORDS)
    }
    signs.set(toSignBits(vectors.vectorOf(row)), ids.length * SIGN_WORDS)
    copies.set(vectors.vectorOf(row), ids.length * DIMS)
    ids.push(id)
    rows.push(row)
    lengths.push(lengthOf(vectors.vectorOf(row)))
  }
  const findFrom = (from: number, self: number): Neighbour[] => {
    const own = vectors.vectorOf(self)
    const ownLength = lengthOf(own)
    const numbers = Float64Array.from(own)
    const found: Neighbour[] = []
    hammingDistances(signs.subarray(from * SIGN_WORDS), toSignBits(own), distances.subarray(from, ids.length))
    for (let place = from; place < ids.length; place++) {
      if ((distances[place] ?? 0) > MAX_HAMMING_DISTANCE || rows[place] === self) continue
      const cosine = dotProduct(numbers, copies, place * DIMS) / (ownLength * (lengths[place] ?? 1))
      if (cosine >= MIN_COSINE) found.push({ id: ids[place] ?? 0, cosine })
    }
    return found
  }
  return (word) => {
    readVocabulary()
    const row = vectors.find(word)
    if (row < 0) return []
    const known = cache.get(word)
    const added = known?.upTo === ids.length ? [] : findFrom(known?.upTo ?? 0, row)
    const found =
      added.length === 0 && known ? known.found : [...(known?.found ?? []), ...added].sort((a, b) => b.cosine - a.cosine || a.id - b.id)
    // A map lists its keys in the order they were set: the first is the one not asked for the longest.
    cache.delete(word)
    if (cache.size >= MAX_CACHED)
      for (const [oldest] of cache) {
        cache.delete(oldest)
        break
      }
    cache.set(word, { upTo: ids.length, found })
    return found
  }
}
