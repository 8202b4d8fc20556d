import type { EncodedQuery } from '../../domain/ports/encoder.ts'
import type { Viewer } from '../index/item-table.ts'
import type { IndexView } from '../index/kind-index.ts'
import { cutPage, type IndexAnswer, type IndexRequest, sortSlots } from '../index/select-items.ts'
import { MIN_ITEMS } from '../vectors/arithmetic.ts'
import type { QueryPlan } from './plan.ts'
import { combineScores, type MeaningScores, scoreMeaning, type WordScores } from './scores.ts'

/** When fewer items hold every word, items that hold some words or are near in meaning follow. */
const WIDEN_BELOW = 10
/** Weight of the cosine beside the normalised word score; chosen in docs/decisions/0016. */
const MEANING_WEIGHT = 0.3
/** The same for the built-in encoder's cosine and for a provider's, where nearly every item has its vector. */
const SENTENCE_WEIGHT = 2
const PROVIDER_WEIGHT = 1
const NEARLY_ALL = 0.95
/** Of a query with a smaller share of known words, the encoder makes a guess that finds nothing by itself. */
export const MIN_KNOWN_SHARE = 0.65
/** A word score of this share of the best possible one is normalised to 1. */
const WORDS_SCALE = 0.6
/** Items that get a combined score: the best by words. */
const POOL = 300
/** Items added for their meaning: how many, and their least cosine by word vectors or a provider's, and by the built-in encoder's. */
const MAX_NEAR_ITEMS = 50
const MIN_COSINE = 0.35
const MIN_SENTENCE_COSINE = 0.25
/** Share of the query's words, by rarity, that a match holds: at least, and where nothing tells the meaning of items. */
const MIN_SHARE = 0.5
const MIN_SHARE_ALONE = 0.65
/** Most matches among which similar items are counted. */
const MAX_TOLD = 2000
/** Scores that differ by less are equal: sums depend on the order of addition. */
const SCORE_STEP = 1e-6
/** Bins of the histogram that finds the best scores without sorting them all. */
const BINS = 1024

/** Likeness in meaning: `scores` ranks matches, `finder` adds items that words did not find. Null where there is nothing to go by. */
interface Meaning {
  readonly scores: MeaningScores | null
  readonly finder: MeaningScores | null
  /** Weight of a cosine beside the normalised word score. */
  readonly weight: number
  /** Whether near items are added however many hold every word. */
  readonly isStrong: boolean
}

/** A slot with its score. */
export interface Scored {
  readonly slot: number
  readonly score: number
}

/** The vectors that tell how near items are to a query in meaning. */
export interface MeaningSources {
  /** The query as the encoder reads it. */
  readonly sentence: EncodedQuery | null
  /** The query's vector by the word table. */
  readonly wordVector: Float32Array | null
}

/** Combines the sources: the encoder's vector of an item where it has one, and otherwise that of the word table. */
export function readMeaning(index: IndexView, { sentence, wordVector }: MeaningSources, viewer: Viewer): Meaning {
  const { sentenceVectors, wordVectors } = index.table
  const { totals } = index
  const byWords = wordVector ? scoreMeaning(index, wordVectors, wordVector, MIN_COSINE) : null
  // In a small library, nearest by words does not mean near.
  const wordFinder = totals.items < MIN_ITEMS ? null : byWords
  const weak = { weight: MEANING_WEIGHT, isStrong: false }
  if (!sentence || !sentenceVectors.canCompare(sentence.vector)) return { ...weak, scores: byWords, finder: wordFinder }
  const [most, minCosine] = sentenceVectors.isCentred ? [PROVIDER_WEIGHT, MIN_COSINE] : [SENTENCE_WEIGHT, MIN_SENTENCE_COSINE]
  const bySentence = scoreMeaning(index, sentenceVectors, sentence.vector, minCosine)
  const prefer = (fallback: MeaningScores | null) => combineScores(bySentence, sentenceVectors.has, fallback)
  if (sentence.knownShare < MIN_KNOWN_SHARE) return { ...weak, scores: prefer(byWords), finder: wordFinder }
  const own = viewer.within ? null : index.hiddenOf(viewer.seenOwners)
  const isStrong = totals.encoded + (own?.encoded ?? 0) >= NEARLY_ALL * (totals.items + (own?.items ?? 0))
  return { weight: isStrong ? most : MEANING_WEIGHT, isStrong, scores: prefer(byWords), finder: prefer(wordFinder) }
}

/** Everything that a query found. */
export interface Reach {
  /** Slots. */
  readonly matches: readonly number[]
  /** How many of the matches are no approximate hits; null where there are too many to tell. */
  countExact(): number | null
}

/** A page of the matches of a query, and its reach. By relevance, the best by words are ranked by both scores, and the rest follow by words. */
export function rankItems(
  index: IndexView,
  plan: QueryPlan,
  words: WordScores,
  meaning: Meaning,
  isCandidate: (slot: number) => boolean,
  request: IndexRequest,
): { readonly answer: IndexAnswer; readonly reach: Reach } {
  const { matches, near } = findMatches(words, plan, meaning, isCandidate)
  const isExact = tellExact(index, words, meaning, request.titleKey ?? 0)
  const countExact = () => (matches.length > MAX_TOLD ? null : matches.filter(isExact).length)
  const reach = { matches, countExact }
  const { corrections } = plan
  const total = matches.length
  if (request.sort !== 'relevance') {
    const matched = new Set(matches)
    const byAge = index.byAge().filter((slot) => matched.has(slot))
    const seqs = cutPage(index, sortSlots(index, byAge, request.sort), request)
    return { answer: { seqs, scores: [], total, corrections }, reach }
  }
  const pool = new Set([...selectBest(matches, words.scoreOf, POOL), ...near])
  const end = request.offset + request.limit
  const ranked = rankByBoth(index, [...pool], words, plan, meaning, request.titleKey ?? 0, end)
  const rest = end > pool.size && total > pool.size ? rankRest(index, matches, pool, words) : []
  const page = [...ranked, ...rest].slice(request.offset, end)
  const highest = 1 / WORDS_SCALE + (meaning.scores ? meaning.weight : 0)
  const seqs = page.map(({ slot }) => index.table.seq[slot] ?? 0)
  const scores = page.map(({ slot, score }) => ({ score: toShare(score / highest), isApproximate: !isExact(slot) }))
  return { answer: { seqs, scores, total, corrections }, reach }
}

/**
 * Tells hits that match a query from those that are only similar. A match holds all of the query's words, or most of them by rarity (the
 * sum of inverse document frequencies), and then the share it holds and its cosine add up to 1. Figures: docs/decisions/0037.
 */
function tellExact(
  { table }: IndexView,
  { heldBy, rarities }: WordScores,
  { scores }: Pick<Meaning, 'scores'>,
  titleKey: number,
): (slot: number) => boolean {
  const sum = rarities.reduce((all, rarity) => all + rarity, 0)
  const everyWord = 2 ** rarities.length - 1
  const shares = new Map<number, number>()
  const shareOf = (held: number): number => {
    const known = shares.get(held)
    if (known !== undefined) return known
    const share = rarities.reduce((all, rarity, bit) => all + ((held >>> bit) & 1 ? rarity : 0), 0) / sum
    shares.set(held, share)
    return share
  }
  return (slot) => {
    const held = heldBy(slot)
    if (held === everyWord || (titleKey !== 0 && table.titleKey[slot] === titleKey)) return true
    const share = shareOf(held)
    if (!scores) return share >= MIN_SHARE_ALONE
    return share >= MIN_SHARE && share + scores.cosineOf(slot) >= 1
  }
}

/**
 * Slots that hold every word of the query; when they are few, also those that hold some words. `near` are those of the matches that are
 * near in meaning: added when few hold every word, and always by the encoder.
 */
export function findMatches(
  { slots, count, heldBy, scoreOf }: WordScores,
  { groups }: QueryPlan,
  { scores, finder, isStrong }: Meaning,
  isCandidate: (slot: number) => boolean,
): { readonly matches: readonly number[]; readonly near: readonly number[] } {
  const everyWord = 2 ** groups.length - 1
  const whole: number[] = []
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0
    if (heldBy(slot) === everyWord && isCandidate(slot)) whole.push(slot)
  }
  const isWhole = whole.length >= WIDEN_BELOW
  if (isWhole && !isStrong) return { matches: whole, near: [] }
  const near = (finder?.nearest(isCandidate, MAX_NEAR_ITEMS) ?? []).map(({ slot }) => slot)
  if (isWhole) return { matches: [...whole, ...near.filter((slot) => heldBy(slot) !== everyWord)], near }
  const matches: number[] = []
  const synonymsOnly: number[] = []
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0
    if (isCandidate(slot)) (heldBy(slot) === 0 ? synonymsOnly : matches).push(slot)
  }
  // Where the encoder can tell, a synonym alone is not enough.
  const isAkin = isStrong ? (slot: number) => (scores?.cosineOf(slot) ?? 0) >= MIN_SENTENCE_COSINE : () => true
  const wordless = new Set(selectBest(synonymsOnly, scoreOf, MAX_NEAR_ITEMS, isAkin))
  for (const slot of near) if (heldBy(slot) === 0) wordless.add(slot)
  for (const slot of wordless) matches.push(slot)
  return { matches, near }
}

/** The best `count` of some slots for which `isWanted`, or a few more when scores share a bin; in no order. It is asked of the best alone. */
export function selectBest(
  slots: readonly number[],
  scoreOf: (slot: number) => number,
  count: number,
  isWanted: (slot: number) => boolean = () => true,
): readonly number[] {
  if (slots.length <= count) return slots.filter(isWanted)
  let highest = 0
  for (const slot of slots) highest = Math.max(highest, scoreOf(slot))
  const scale = (BINS - 1) / (highest || 1)
  const histogram = new Uint32Array(BINS)
  for (const slot of slots) {
    const bin = Math.floor(scoreOf(slot) * scale)
    histogram[bin] = (histogram[bin] ?? 0) + 1
  }
  const found: number[] = []
  // Down from the best, eight times as many each time: where few are wanted, all are looked at in the end.
  for (let upTo = BINS, wanted = count; upTo > 0; wanted *= 8) {
    let from = upTo - 1
    for (let sum = histogram[from] ?? 0; sum < wanted && from > 0; ) sum += histogram[--from] ?? 0
    for (const slot of slots) {
      const bin = Math.floor(scoreOf(slot) * scale)
      if (bin >= from && bin < upTo && isWanted(slot)) found.push(slot)
    }
    if (found.length >= count) break
    upTo = from
  }
  return found
}

/** Score fusion: the normalised word score plus the weighted cosine. A query without a vector puts items that hold every word first. */
function rankByBoth(
  index: IndexView,
  slots: readonly number[],
  words: WordScores,
  { groups }: QueryPlan,
  { scores, weight }: Meaning,
  titleKey: number,
  count: number,
): Scored[] {
  const scale = (words.best || 1) * WORDS_SCALE
  const everyWord = 2 ** groups.length - 1
  const bonusOf = (slot: number) => {
    // More than words and meaning can give.
    const title = titleKey !== 0 && index.table.titleKey[slot] === titleKey ? 2 / WORDS_SCALE + 2 * weight : 0
    if (scores) return title + weight * scores.cosineOf(slot)
    // More than any word score, which is at most `best`.
    return title + (words.heldBy(slot) === everyWord ? 2 / WORDS_SCALE : 0)
  }
  return sortByScore(
    index,
    slots.map((slot) => ({ slot, score: words.scoreOf(slot) / scale + bonusOf(slot) })),
    count,
  )
}

/** The matches that did not get a combined score, by words. */
function rankRest(index: IndexView, matches: readonly number[], done: ReadonlySet<number>, words: WordScores): Scored[] {
  return sortByScore(
    index,
    matches.filter((slot) => !done.has(slot)).map((slot) => ({ slot, score: words.scoreOf(slot) })),
  ).map(({ slot }) => ({ slot, score: 0 }))
}

/** A score as callers see it: 0 to 1, in thousandths. */
function toShare(score: number): number {
  return Math.round(Math.min(1, Math.max(0, score)) * 1000) / 1000
}

/**
 * Best first; of equal scores the most voted, then the newest. Scores come back rounded to `SCORE_STEP`, so that they fall as the order does.
 * @param count how many are wanted, of many: the others are left out unsorted. Default: all
 */
export function sortByScore(
  { table }: { readonly table: Pick<IndexView['table'], 'votes' | 'seq'> },
  scored: readonly Scored[],
  count = scored.length,
): Scored[] {
  const steps = new Float64Array(scored.length)
  for (const [place, { score }] of scored.entries()) steps[place] = Math.round(score / SCORE_STEP)
  const least = count < scored.length ? (steps.toSorted()[scored.length - count] ?? Number.POSITIVE_INFINITY) : Number.NEGATIVE_INFINITY
  const best: Scored[] = []
  for (const [place, { slot }] of scored.entries()) {
    const score = steps[place] ?? 0
    if (score >= least) best.push({ slot, score })
  }
  return best
    .sort(
      (a, b) =>
        b.score - a.score || (table.votes[b.slot] ?? 0) - (table.votes[a.slot] ?? 0) || (table.seq[b.slot] ?? 0) - (table.seq[a.slot] ?? 0),
    )
    .slice(0, count)
    .map(({ slot, score }) => ({ slot, score: score * SCORE_STEP }))
}
