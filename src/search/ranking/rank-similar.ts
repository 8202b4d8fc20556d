import { COUNT_MASK, decodePostings } from '../analysis/indexed-text.ts'
import type { PrivatePostings } from '../index/hidden-postings.ts'
import type { Viewer } from '../index/item-table.ts'
import type { IndexView } from '../index/kind-index.ts'
import { makeFilter } from '../index/select-items.ts'
import { countBits, MIN_ITEMS } from '../vectors/arithmetic.ts'
import { lengthOf } from '../vectors/embedder.ts'
import type { QueryPlan } from './plan.ts'
import { type MeaningSources, MIN_KNOWN_SHARE, selectBest, sortByScore } from './rank-items.ts'
import { scoreMeaning, type WordScores } from './scores.ts'

/** Items that are compared: the best by words, and as many by meaning. */
const POOL = 300
/** Least cosine by the encoder, and by the word table; chosen in docs/decisions/0038. */
const MIN_SENTENCE_COSINE = 0.35
const MIN_COSINE = 0.55
/** Share of the text's words that makes an item similar, whatever the word table says. */
const MIN_HELD = 0.6
/** Share of the word table's cosine in the similarity; the rest is shared words. */
const MEANING_SHARE = 0.5

/** The distinctive words of a text, scored. */
export interface DistinctiveWords {
  readonly scores: WordScores
  readonly count: number
  /** Share of the text's words that public items hold, 0 to 1: the others are in none. */
  readonly knownShare: number
}

/**
 * The candidates like a text, most similar first, with their similarity from 0 to 1: the encoder's cosine, or for items without its
 * vector that of the word table with the share of common words. Items below the floors are left out.
 */
export function rankSimilar(
  index: IndexView,
  { scores: words, count, knownShare }: DistinctiveWords,
  { sentence, wordVector }: MeaningSources,
  isCandidate: (slot: number) => boolean,
  limit: number,
): { seq: number; similarity: number }[] {
  const { table } = index
  const hasSentence = table.sentenceVectors.has
  const isRead = sentence !== null && sentence.knownShare >= MIN_KNOWN_SHARE && table.sentenceVectors.canCompare(sentence.vector)
  const bySentence = isRead ? scoreMeaning(index, table.sentenceVectors, sentence.vector, MIN_SENTENCE_COSINE) : null
  const byTable = wordVector ? scoreMeaning(index, table.wordVectors, wordVector, MIN_COSINE) : null
  // A text without a vector is compared by words alone.
  const meaningShare = byTable ? MEANING_SHARE : 0
  const similarityOf = (slot: number): number => {
    if (bySentence && hasSentence(slot)) {
      const cosine = bySentence.cosineOf(slot)
      return cosine >= MIN_SENTENCE_COSINE ? cosine : 0
    }
    const cosine = byTable?.cosineOf(slot) ?? 0
    const shared = Math.min(1, (knownShare * words.scoreOf(slot)) / (words.best || 1))
    const held = (knownShare * countBits(words.heldBy(slot))) / (count || 1)
    return cosine >= MIN_COSINE || held >= MIN_HELD ? meaningShare * cosine + (1 - meaningShare) * shared : 0
  }
  const matched = [...words.slots.subarray(0, words.count)].filter(isCandidate)
  const slots = new Set(selectBest(matched, words.scoreOf, POOL))
  for (const meaning of [bySentence, byTable]) for (const { slot } of meaning?.nearest(isCandidate, POOL) ?? []) slots.add(slot)
  const similar = Array.from(slots, (slot) => ({ slot, score: Math.min(1, similarityOf(slot)) })).filter(({ score }) => score > 0)
  return sortByScore(index, similar)
    .slice(0, limit)
    .map(({ slot, score }) => ({ seq: table.seq[slot] ?? 0, similarity: score }))
}

/** Least similarity of two items that are nearly the same; chosen in docs/decisions/0038. */
export const MIN_NEARLY_SAME = 0.75
/** Words by which near-duplicates are looked for. */
const MAX_DISTINCTIVE = 12
/** Items that hold these words, in all: bounds what a save costs in a library of any size. A word that more hold tells nobody apart. */
const MAX_POSTINGS = 10_000

/** How often each word is in an item's text, by word number. */
export type WordCounts = ReadonlyMap<number, number>

/** Reads the counts of stored words. Words of the title, description and tags alone count as none. */
export function readWordCounts(words: Uint8Array): WordCounts {
  const counts = new Map<number, number>()
  decodePostings(words, (word, code) => {
    if ((code & COUNT_MASK) > 0) counts.set(word, code & COUNT_MASK)
  })
  return counts
}

/**
 * Weighted Jaccard similarity of two texts: what they share of all their words, 0 to 1.
 * @param rarityOf weight of a word, above 0
 */
export function compareWords(a: WordCounts, b: WordCounts, rarityOf: (word: number) => number): number {
  let shared = 0
  let all = 0
  for (const [word, count] of a) {
    const other = b.get(word) ?? 0
    const rarity = rarityOf(word)
    shared += rarity * Math.min(count, other)
    all += rarity * Math.max(count, other)
  }
  for (const [word, count] of b) if (!a.has(word)) all += rarityOf(word) * count
  return all === 0 ? 0 : shared / all
}

/** The weight of a word for a viewer, by the items that the viewer finds: rare words say more. @param own the viewer's private postings */
export function rarityFor({ postings, totals }: IndexView, own: PrivatePostings | null): (word: number) => number {
  const items = totals.items + (own?.items ?? 0)
  return (word) => Math.log(1 + items / Math.max(1, postings.countOf(word) + (own?.countOf(word) ?? 0)))
}

/** Looks for the rarest of a text's words that other items hold, each as it is. @param countOf number of other items that hold a word */
export function planDistinctive(words: Iterable<number>, countOf: (word: number) => number): QueryPlan {
  const shared = [...words].flatMap((word) => (countOf(word) > 0 ? [{ word, count: countOf(word) }] : []))
  const sorted = shared.sort((a, b) => a.count - b.count || a.word - b.word).slice(0, MAX_DISTINCTIVE)
  let postings = 0
  const rarest = sorted.filter(({ count }) => {
    postings += count
    return postings <= MAX_POSTINGS
  })
  const groups = rarest.map(({ word }) => ({ word: '', isInLibrary: true, concepts: [{ words: [word], weight: 1, isWord: true }] }))
  return { groups, corrections: new Map() }
}

/** Row numbers of the candidates with the best scores, best first. */
export function selectSharing(index: IndexView, scores: WordScores, isCandidate: (slot: number) => boolean, limit: number): number[] {
  const slots = [...scores.slots.subarray(0, scores.count)].filter(isCandidate)
  const best = selectBest(slots, scores.scoreOf, limit).map((slot) => ({ slot, score: scores.scoreOf(slot) }))
  return sortByScore(index, best)
    .slice(0, limit)
    .map(({ slot }) => index.table.seq[slot] ?? 0)
}

/** Least cosine of two related items: 95 % of pairs taken at random are below it; see docs/decisions/0016. */
const MIN_RELATED = 0.33
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
  const [columns, minCosine] = sentence ? [table.sentenceVectors, MIN_RELATED] : [table.wordVectors, MIN_WORD_COSINE]
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
