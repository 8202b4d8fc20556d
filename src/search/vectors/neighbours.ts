import type { Vocabulary } from '../index/vocabulary.ts'
import { lengthOf } from './embedder.ts'
import { hammingDistance, SIGN_BIT_WORDS, toSignBits } from './sign-bits.ts'
import { DIMS, type WordVectors } from './word-vectors.ts'

/** Least cosine at which a word counts as near another. */
const MIN_COSINE = 0.5
/** Signs of which two such vectors differ in at most: a third is to be expected (Charikar 2002), more than this hardly ever happens. */
const MAX_HAMMING_DISTANCE = 36
/** Words whose neighbours are cache. */
const MAX_CACHED = 2000

/** A word of the vocabulary near another in meaning. */
export interface Neighbour {
  readonly id: number
  /** From `MIN_COSINE` to 1. */
  readonly cosine: number
}

/**
 * Finds the words of the vocabulary that general English uses like a word, nearest first; none for a word it does not know.
 * Remembers what it found, and looks only through words that are new when asked again.
 */
export function createNeighbours(vectors: WordVectors, vocabulary: Vocabulary): (word: string) => readonly Neighbour[] {
  const cache = new Map<string, { upTo: number; found: readonly Neighbour[] }>()
  /** Words of the vocabulary that general English knows: their numbers, rows, signs and lengths. */
  const ids: number[] = []
  const rows: number[] = []
  const lengths: number[] = []
  let signs = new Uint32Array(1024 * SIGN_BIT_WORDS)
  let seen = 0

  const readVocabulary = (): void => {
    for (; seen < vocabulary.capacity; seen++) {
      const row = vectors.find(vocabulary.wordOf(seen))
      if (row < 0) continue
      if ((ids.length + 1) * SIGN_BIT_WORDS > signs.length) {
        const larger = new Uint32Array(signs.length * 2)
        larger.set(signs)
        signs = larger
      }
      signs.set(toSignBits(vectors.vectorOf(row)), ids.length * SIGN_BIT_WORDS)
      ids.push(seen)
      rows.push(row)
      lengths.push(lengthOf(vectors.vectorOf(row)))
    }
  }
  const findFrom = (from: number, self: number): Neighbour[] => {
    const own = vectors.vectorOf(self)
    const ownLength = lengthOf(own)
    const ownSigns = toSignBits(own)
    const found: Neighbour[] = []
    for (let place = from; place < ids.length; place++) {
      const different = hammingDistance(signs, place, ownSigns)
      const row = rows[place] ?? 0
      if (different > MAX_HAMMING_DISTANCE || row === self) continue
      const vector = vectors.vectorOf(row)
      let product = 0
      for (let i = 0; i < DIMS; i++) product += (own[i] ?? 0) * (vector[i] ?? 0)
      const cosine = product / (ownLength * (lengths[place] ?? 1))
      if (cosine >= MIN_COSINE) found.push({ id: ids[place] ?? 0, cosine })
    }
    return found
  }
  return (word) => {
    readVocabulary()
    const known = cache.get(word)
    if (known?.upTo === ids.length) return known.found
    const row = vectors.find(word)
    const added = row < 0 ? [] : findFrom(known?.upTo ?? 0, row)
    const found =
      added.length === 0 && known ? known.found : [...(known?.found ?? []), ...added].sort((a, b) => b.cosine - a.cosine || a.id - b.id)
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(word, { upTo: ids.length, found })
    return found
  }
}
