import type { KindIndex } from '../index/kind-index.ts'
import { cutPage, type IndexAnswer, type IndexRequest, sortSlots } from '../index/select-items.ts'
import { MIN_ITEMS } from '../vectors/centroid.ts'
import type { VectorCodes } from '../vectors/vector-codes.ts'
import type { QueryPlan } from './plan.ts'
import { type MeaningScores, preferCosines, scoreMeaning } from './score-meaning.ts'
import type { WordScores } from './score-words.ts'

/** When fewer items hold every word, items that hold some words or are near in meaning follow. */
const WIDEN_BELOW = 10
/** Weight of the cosine beside the normalised word score; chosen in docs/decisions/0016. */
const MEANING_WEIGHT = 0.3
/** A word score of this share of the best possible one is normalised to 1. */
const WORDS_SCALE = 0.6
/** Items that get a combined score: the best by words. */
const POOL = 300
/** Items added that hold no query word: how many, and their least cosine. */
const MAX_NEAR_ITEMS = 50
const MIN_COSINE = 0.35
/** Items by words whose provider vectors are compared. Ties may exceed `POOL`. */
const MAX_COMPARED = 600
/** Share of the cosine in the similarity of two texts; the rest is shared words. */
const MEANING_SHARE = 0.5
/** Scores that differ by less are equal: sums depend on the order of addition. */
const SCORE_STEP = 1e-6
/** Bins of the histogram that finds the best scores without sorting them all. */
const BINS = 1024

/** A provider's cosines with the query, by row number; see `Centroid`. */
export type Cosines = ReadonlyMap<number, number>

/** Likeness in meaning: `scores` ranks matches, `finder` adds items that no word found. Null where there is nothing to go by. */
interface Meaning {
  readonly scores: MeaningScores | null
  readonly finder: MeaningScores | null
}

interface Scored {
  readonly slot: number
  readonly score: number
}

/** Uses a provider's cosines for items that have them, and the built-in vectors for the others. @param vector the query's built-in vector */
export function readMeaning(index: KindIndex, vector: Float32Array | null, codes: VectorCodes, cosines: Cosines | null): Meaning {
  const builtIn = vector ? scoreMeaning(index, vector) : null
  // In a small library, nearest does not mean near.
  const builtInFinder = index.totals.items < MIN_ITEMS ? null : builtIn
  if (!cosines) return { scores: builtIn, finder: builtInFinder }
  return { scores: preferCosines(index, cosines, codes.has, builtIn), finder: preferCosines(index, cosines, codes.has, builtInFinder) }
}

/** A page of the matches of a query. By relevance, the best by words are ranked by both scores, and the rest follow by words. */
export function rankItems(
  index: KindIndex,
  plan: QueryPlan,
  words: WordScores,
  { scores: meaning, finder }: Meaning,
  isCandidate: (slot: number) => boolean,
  request: IndexRequest,
): IndexAnswer {
  const matches = findMatches(words, plan, finder, isCandidate)
  const { corrections } = plan
  const total = matches.length
  if (request.sort !== 'relevance') {
    const matched = new Set(matches)
    const byAge = index.byAge().filter((slot) => matched.has(slot))
    return { seqs: cutPage(index, sortSlots(index, byAge, request.sort), request), total, corrections }
  }
  const ranked = rankByBoth(index, selectBest(matches, words.scoreOf, POOL), words, plan, meaning)
  const end = request.offset + request.limit
  const rest = end > ranked.length && total > ranked.length ? rankRest(index, matches, ranked, words) : []
  return { seqs: cutPage(index, [...ranked, ...rest], request), total, corrections }
}

/** Row numbers of the best matches by words, whose provider vectors are worth reading. */
export function selectByWords(index: KindIndex, plan: QueryPlan, words: WordScores, isCandidate: (slot: number) => boolean): number[] {
  return selectBest(findMatches(words, plan, null, isCandidate), words.scoreOf, POOL)
    .slice(0, MAX_COMPARED)
    .map((slot) => index.table.seq[slot] ?? 0)
}

/** The candidates most like a text, with their similarity from 0 to 1. @param words scores by the text's distinctive words */
export function rankSimilar(
  index: KindIndex,
  words: WordScores,
  meaning: MeaningScores | null,
  isCandidate: (slot: number) => boolean,
  limit: number,
): { seq: number; similarity: number }[] {
  const slots = new Set(meaning?.nearest(isCandidate, POOL).map(({ slot }) => slot))
  const matched = [...words.slots.subarray(0, words.count)].filter(isCandidate)
  for (const slot of selectBest(matched, words.scoreOf, POOL)) slots.add(slot)
  // A text without a vector is compared by words alone.
  const meaningShare = meaning ? MEANING_SHARE : 0
  const similarity = (slot: number) =>
    meaningShare * (meaning?.cosineOf(slot) ?? 0) + (1 - meaningShare) * Math.min(1, words.scoreOf(slot) / (words.best || 1))
  const scored = Array.from(slots, (slot) => ({ slot, score: similarity(slot) }))
  return sortByScore(index, scored)
    .slice(0, limit)
    .map(({ slot, score }) => ({ seq: index.table.seq[slot] ?? 0, similarity: score }))
}

/** Slots that hold every word of the query; when they are few, also those that hold some words or are near in meaning. */
function findMatches(
  { slots, count, heldBy, scoreOf }: WordScores,
  { groups }: QueryPlan,
  finder: MeaningScores | null,
  isCandidate: (slot: number) => boolean,
): readonly number[] {
  const everyWord = 2 ** groups.length - 1
  const whole: number[] = []
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0
    if (heldBy(slot) === everyWord && isCandidate(slot)) whole.push(slot)
  }
  if (whole.length >= WIDEN_BELOW) return whole
  const someWords: number[] = []
  const synonymsOnly: number[] = []
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0
    if (isCandidate(slot)) (heldBy(slot) === 0 ? synonymsOnly : someWords).push(slot)
  }
  const near = new Set(selectBest(synonymsOnly, scoreOf, MAX_NEAR_ITEMS))
  for (const { slot, cosine } of finder?.nearest(isCandidate, MAX_NEAR_ITEMS) ?? []) {
    if (cosine >= MIN_COSINE && heldBy(slot) === 0) near.add(slot)
  }
  return [...someWords, ...near]
}

/** The best `count` of some slots, or a few more when scores share a bin; in no order. */
function selectBest(slots: readonly number[], scoreOf: (slot: number) => number, count: number): readonly number[] {
  if (slots.length <= count) return slots
  let highest = 0
  for (const slot of slots) highest = Math.max(highest, scoreOf(slot))
  const scale = (BINS - 1) / (highest || 1)
  const histogram = new Uint32Array(BINS)
  for (const slot of slots) {
    const bin = Math.floor(scoreOf(slot) * scale)
    histogram[bin] = (histogram[bin] ?? 0) + 1
  }
  let lowestBin = BINS - 1
  for (let sum = histogram[lowestBin] ?? 0; sum < count && lowestBin > 0; ) sum += histogram[--lowestBin] ?? 0
  return slots.filter((slot) => Math.floor(scoreOf(slot) * scale) >= lowestBin)
}

/** Score fusion: the normalised word score plus the weighted cosine. A query without a vector puts items that hold every word first. */
function rankByBoth(
  index: KindIndex,
  slots: readonly number[],
  words: WordScores,
  { groups }: QueryPlan,
  meaning: MeaningScores | null,
): number[] {
  const scale = (words.best || 1) * WORDS_SCALE
  const everyWord = 2 ** groups.length - 1
  const bonusOf = (slot: number) => {
    if (meaning) return MEANING_WEIGHT * meaning.cosineOf(slot)
    // More than any word score, which is at most `best`.
    return words.heldBy(slot) === everyWord ? 2 / WORDS_SCALE : 0
  }
  return sortByScore(
    index,
    slots.map((slot) => ({ slot, score: words.scoreOf(slot) / scale + bonusOf(slot) })),
  ).map(({ slot }) => slot)
}

/** The matches that did not get a combined score, by words. */
function rankRest(index: KindIndex, matches: readonly number[], ranked: readonly number[], words: WordScores): number[] {
  const done = new Set(ranked)
  return sortByScore(
    index,
    matches.filter((slot) => !done.has(slot)).map((slot) => ({ slot, score: words.scoreOf(slot) })),
  ).map(({ slot }) => slot)
}

/** Best first; of equal scores the most voted, then the newest. Scores come back rounded to `SCORE_STEP`, so that they fall as the order does. */
function sortByScore({ table }: KindIndex, scored: readonly Scored[]): Scored[] {
  return scored
    .map(({ slot, score }) => ({ slot, score: Math.round(score / SCORE_STEP) }))
    .sort(
      (a, b) =>
        b.score - a.score || (table.votes[b.slot] ?? 0) - (table.votes[a.slot] ?? 0) || (table.seq[b.slot] ?? 0) - (table.seq[a.slot] ?? 0),
    )
    .map(({ slot, score }) => ({ slot, score: score * SCORE_STEP }))
}
