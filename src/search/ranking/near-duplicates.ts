import { COUNT_MASK, decodePostings } from '../analysis/indexed-text.ts'
import type { PrivatePostings } from '../index/hidden-postings.ts'
import type { IndexView } from '../index/kind-index.ts'
import type { QueryPlan } from './plan.ts'
import { selectBest, sortByScore } from './rank-items.ts'
import type { WordScores } from './scores.ts'

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
