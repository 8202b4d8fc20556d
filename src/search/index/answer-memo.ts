import type { EncodedQuery } from '../../library/ports/encoder.ts'
import type { QueryPlan } from '../ranking/plan.ts'
import { MIN_COSINE, MIN_SENTENCE_COSINE, NEARLY_ALL, type Reach } from '../ranking/rank-items.ts'
import { EXACT_UP_TO } from '../ranking/score-meaning.ts'
import { MIN_ITEMS } from '../vectors/centroid.ts'
import type { IndexView } from './kind-index.ts'
import { type AnswerMemo, type IndexFilter, makeFilter } from './select-items.ts'
import { STRANGER } from './viewer.ts'

/** Bits that say which items matched; several items may share one. */
const MATCHED_BITS = 16_384
/** An answer is kept while no larger share of the items changed: the rarity of words, and so the order, hang on all of them. */
const MAX_CHANGED_SHARE = 0.05
/** In fewer items, one alone changes how rare words are, and a search takes little. */
const MIN_KEPT_ITEMS = 200
/** Cosines that are this much too low are taken to be near enough. */
const MARGIN = 0.01

/** An item that changed, with the words it has now. */
export interface ChangedItem {
  readonly seq: number
  /** Word numbers; null when they are not known. */
  readonly words: Uint32Array | null
}

/** Notes an answer. */
export function noteAnswer(index: IndexView, plan: QueryPlan, { matches, isWhole, leastCosine }: Reach): AnswerMemo {
  const matched = new Uint32Array(MATCHED_BITS / 32)
  for (const slot of matches) {
    const bit = (index.table.seq[slot] ?? 0) % MATCHED_BITS
    matched[bit >>> 5] = (matched[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }
  const { items } = index.totals
  return { plan: toNumbers(plan), corrections: toText(plan), matched, isWhole, leastCosine, regime: regimeOf(index), items }
}

/**
 * Whether a query still finds the same after some items changed: none of them was found or is now. Scores and order are as they were. Where
 * many items are found by synonyms or meaning alone, which of them are found depends on scores too.
 * @param now the query as it is planned now, its vectors, and its filter
 * @param changes how many items changed since the answer was made, those before these included
 */
export function isStillFound(
  index: IndexView,
  memo: AnswerMemo,
  now: {
    readonly plan: QueryPlan
    readonly wordVector: Float32Array | null
    readonly sentence: EncodedQuery | null
    readonly filter: IndexFilter
  },
  changed: readonly ChangedItem[],
  changes: number,
): boolean {
  if (memo.items < MIN_KEPT_ITEMS || changes > memo.items * MAX_CHANGED_SHARE || regimeOf(index) !== memo.regime) return false
  if (!isSame(toNumbers(now.plan), memo.plan) || toText(now.plan) !== memo.corrections) return false
  const { table } = index
  const { isWhole, leastCosine } = memo
  // Where enough items hold every word, others do not count; else any word counts, also a synonym.
  const wanted = now.plan.groups.map(
    ({ concepts }) => new Set(concepts.flatMap((concept) => (concept.isWord || !isWhole ? concept.words : []))),
  )
  const holds = (words: Uint32Array, group: ReadonlySet<number>) => words.some((word) => group.has(word))
  const isCandidate = makeFilter(index, now.filter, STRANGER)
  const wordCosine = now.wordVector && table.wordVectors.compareWith(now.wordVector)
  const sentenceCosine = now.sentence && table.sentenceVectors.compareWith(now.sentence.vector)
  return changed.every(({ seq, words }) => {
    const bit = seq % MATCHED_BITS
    if (((memo.matched[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0) return false
    const slot = index.slotOf(seq)
    if (slot === undefined || !isCandidate(slot)) return true
    if (words === null || (isWhole ? wanted.every((group) => holds(words, group)) : wanted.some((group) => holds(words, group))))
      return false
    if (leastCosine === null) return true
    const isFar = (cosine: number, least: number) => cosine < Math.max(leastCosine, least) - MARGIN
    return isFar(wordCosine?.(slot) ?? 0, MIN_COSINE) && isFar(sentenceCosine?.(slot) ?? 0, MIN_SENTENCE_COSINE)
  })
}

/** What decides how the items of an index are searched, beside the query. */
function regimeOf({ totals }: IndexView): string {
  return [totals.items < MIN_ITEMS, totals.items <= EXACT_UP_TO, totals.encoded >= NEARLY_ALL * totals.items].join()
}

/** A plan as numbers: equal ones look for the same. */
function toNumbers({ groups }: QueryPlan): Float64Array {
  const numbers: number[] = []
  for (const { isInLibrary, concepts } of groups) {
    numbers.push(-1, Number(isInLibrary))
    for (const { words, weight, isWord } of concepts) numbers.push(-2, weight, Number(isWord), ...words)
  }
  return Float64Array.from(numbers)
}

function toText({ corrections }: QueryPlan): string {
  return JSON.stringify([...corrections])
}

function isSame(one: Float64Array, other: Float64Array): boolean {
  return one.length === other.length && one.every((number, place) => number === other[place])
}
