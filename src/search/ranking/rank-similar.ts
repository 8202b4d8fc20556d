import type { IndexView } from '../index/kind-index.ts'
import { countBits } from '../vectors/arithmetic.ts'
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
