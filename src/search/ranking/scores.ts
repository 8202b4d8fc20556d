import { COUNT_MASK, IN_DESCRIPTION, IN_TAGS, IN_TITLE } from '../analysis/indexed-text.ts'
import type { PrivatePostings } from '../index/hidden-postings.ts'
import { FREE } from '../index/item-table.ts'
import type { IndexView } from '../index/kind-index.ts'
import { CODE_BITS, rangeOf } from '../index/postings.ts'
import { type Embedder, lengthOf } from '../vectors/embedder.ts'
import type { VectorColumns } from '../vectors/vector-columns.ts'
import { DIMS } from '../vectors/word-vectors.ts'
import type { Concept, Group, QueryPlan } from './plan.ts'

/**
 * BM25F (Robertson, Zaragoza 2009). Term frequencies are weighted by field, normalised by field length and summed, and only then saturated.
 * One occurrence in the text weighs 1.
 */
const TITLE_WEIGHT = 4
const TAG_WEIGHT = 2.5
const DESCRIPTION_WEIGHT = 2
/** BM25's k1. */
const SATURATION = 1.4
/** BM25's b, for the title and the body. */
const TITLE_LENGTH_PART = 0.5
const BODY_LENGTH_PART = 0.8

/** A synonym in more items than this number and this share of all is skipped: it tells little and costs most. */
const MAX_SYNONYM_COUNT = 1000
const MAX_SYNONYM_SHARE = 0.005
/** A query word in more items than this number and this share of all is common. */
const MIN_COMMON_COUNT = 1000
const COMMON_SHARE = 0.1

/** How well each item matches the words of a query. Valid until `clearScores`. */
export interface WordScores {
  /** Slots with a score above zero: the first `count` of the array. Public items, and the caller's own. */
  readonly slots: Uint32Array
  readonly count: number
  readonly cells: Cells
  /** The score of an ideal item, which holds every query word itself as often as counts. */
  readonly best: number
  /** The inverse document frequency of each query word, or of what counts as it, by its bit. */
  readonly rarities: Float64Array
  scoreOf(slot: number): number
  /** Bit n is set when the item holds the query's nth word, or an alternative that counts as it. */
  heldBy(slot: number): number
}

/**
 * Four 32-bit numbers a slot, in one array because the inner loops read them together. All are zero between searches.
 *
 *     cell  | FREQUENCY        | BEST_CONCEPT   | SCORE             | HELD               |
 *     scope | current concept  | current group  | query             | query              |
 *     value | weighted term    | best concept's | sum of the groups | bit n: holds the   |
 *           | frequency        | score so far   | done so far       | query's nth word   |
 */
interface Cells {
  readonly numbers: Float32Array
  /** The same memory as integers, for HELD. */
  readonly bits: Uint32Array
}

const FREQUENCY = 0
const BEST_CONCEPT = 1
const SCORE = 2
const HELD = 3
const CELL_SIZE = 4

/** Memory that searches reuse. */
export type Scratch = ReturnType<typeof makeScratch>

/** Memory for this many slots. */
export function makeScratch(length: number) {
  const numbers = new Float32Array(length * CELL_SIZE)
  return {
    cells: { numbers, bits: new Uint32Array(numbers.buffer) },
    /** Lists of slots: of the query, of the current concept, of the current group. Their content is undefined between searches. */
    slots: new Uint32Array(length),
    conceptSlots: new Uint32Array(length),
    groupSlots: new Uint32Array(length),
  }
}

/**
 * Scores items by the words of a plan. The scores live in `scratch`: call `clearScores` before using it again.
 * @param scratch for at least as many slots as the table has
 * @param own the caller's private postings
 */
export function scoreWords(index: IndexView, scratch: Scratch, plan: QueryPlan, own: PrivatePostings | null): WordScores {
  const { cells, slots, conceptSlots, groupSlots } = scratch
  const { numbers, bits } = cells
  let count = 0
  let best = 0
  const rarities = new Float64Array(plan.groups.length).fill(inverseFrequency(index, 0))
  for (const { group, bit, isFilterOnly } of orderGroups(index, plan)) {
    let groupCount = 0
    let ownRarity = inverseFrequency(index, 0)
    for (const [place, concept] of group.concepts.entries()) {
      if (isFilterOnly && !concept.isWord) continue
      const words = concept.isWord ? concept.words : withoutCommon(index, concept)
      const publicCount = sumPublicPostings(index, words, scratch, isFilterOnly)
      const conceptCount = own ? sumPrivatePostings(index, own, words, scratch, publicCount, isFilterOnly) : publicCount
      const rarity = inverseFrequency(index, isFilterOnly || index.isNarrowed ? maxFrequency(index, words) : publicCount)
      if (place === 0 && group.isInLibrary) ownRarity = rarity
      if (place === 0 && concept.isWord) rarities[31 - Math.clz32(bit)] = rarity
      // An alternative is never worth more than the word itself, however rare it is.
      const worth = concept.weight * (group.isInLibrary ? Math.min(rarity, ownRarity) : rarity) * (SATURATION + 1)
      for (let i = 0; i < conceptCount; i++) {
        const slot = conceptSlots[i] ?? 0
        const cell = slot * CELL_SIZE
        const frequency = numbers[cell + FREQUENCY] ?? 0
        numbers[cell + FREQUENCY] = 0
        const score = (worth * frequency) / (frequency + SATURATION)
        const bestSoFar = numbers[cell + BEST_CONCEPT] ?? 0
        if (score > bestSoFar) {
          if (bestSoFar === 0) groupSlots[groupCount++] = slot
          numbers[cell + BEST_CONCEPT] = score
        }
        if (concept.isWord) bits[cell + HELD] = (bits[cell + HELD] ?? 0) | bit
      }
    }
    for (let i = 0; i < groupCount; i++) {
      const slot = groupSlots[i] ?? 0
      const cell = slot * CELL_SIZE
      const score = numbers[cell + SCORE] ?? 0
      if (score === 0) slots[count++] = slot
      numbers[cell + SCORE] = score + (numbers[cell + BEST_CONCEPT] ?? 0)
      numbers[cell + BEST_CONCEPT] = 0
    }
    best += ownRarity * (SATURATION + 1)
  }
  return {
    slots,
    count,
    cells,
    best,
    rarities,
    scoreOf: (slot) => numbers[slot * CELL_SIZE + SCORE] ?? 0,
    heldBy: (slot) => bits[slot * CELL_SIZE + HELD] ?? 0,
  }
}

/** Sets the cells of a search to zero. */
export function clearScores({ slots, count, cells }: WordScores): void {
  for (let i = 0; i < count; i++) {
    const cell = (slots[i] ?? 0) * CELL_SIZE
    cells.numbers[cell + SCORE] = 0
    cells.bits[cell + HELD] = 0
  }
}

/** Groups with their bit. Common words come last and find nothing by themselves (`isFilterOnly`), unless all are common. */
function orderGroups(index: IndexView, plan: QueryPlan): { group: Group; bit: number; isFilterOnly: boolean }[] {
  const groups = plan.groups.map((group, n) => ({ group, bit: 1 << n, isFilterOnly: isCommon(index, group) }))
  const distinctive = groups.filter(({ isFilterOnly }) => !isFilterOnly)
  if (distinctive.length === 0) return groups.map((group) => ({ ...group, isFilterOnly: false }))
  return [...distinctive, ...groups.filter(({ isFilterOnly }) => isFilterOnly)]
}

/** Whether so many items hold a word that it hardly tells them apart. */
function isCommon(index: IndexView, group: Group): boolean {
  const ownForms = group.isInLibrary ? (group.concepts[0]?.words ?? []) : []
  return maxFrequency(index, ownForms) > Math.max(MIN_COMMON_COUNT, index.totals.items * COMMON_SHARE)
}

/** The words of a synonym that are not common. */
function withoutCommon({ totals, postings }: IndexView, concept: Concept): readonly number[] {
  const max = Math.max(MAX_SYNONYM_COUNT, totals.items * MAX_SYNONYM_SHARE)
  return concept.words.filter((word) => postings.countOf(word) <= max)
}

/** BM25's inverse document frequency of a word that so many public items hold. */
function inverseFrequency({ totals }: IndexView, count: number): number {
  return Math.log(1 + (totals.items - count + 0.5) / (count + 0.5))
}

/** The document frequency of the most common of some words. */
function maxFrequency({ postings }: IndexView, words: readonly number[]): number {
  return words.reduce((most, word) => Math.max(most, postings.countOf(word)), 0)
}

/**
 * Adds the weighted frequencies of words in public items to FREQUENCY. Lists those items in `conceptSlots`, and gives their number.
 * @param isFilterOnly leave out items that have no score yet
 */
function sumPublicPostings(index: IndexView, words: readonly number[], { cells, conceptSlots }: Scratch, isFilterOnly: boolean): number {
  const { numbers } = cells
  const { state, titleLength, bodyLength } = index.table
  const { perTitleWord, perBodyWord } = lengthParts(index)
  let count = 0
  for (const word of words) {
    for (const segment of index.postings.segments) {
      const [from, to] = rangeOf(segment, word)
      const { postings } = segment
      for (let at = from; at < to; at++) {
        const posting = postings[at] ?? 0
        const slot = posting >>> CODE_BITS
        const cell = slot * CELL_SIZE
        if (isFilterOnly && numbers[cell + SCORE] === 0) continue
        // A deleted item that is not purged yet.
        if (state[slot] === FREE) continue
        const frequency = numbers[cell + FREQUENCY] ?? 0
        if (frequency === 0) conceptSlots[count++] = slot
        numbers[cell + FREQUENCY] =
          frequency +
          weightFrequency(posting, posting & IN_TITLE ? perTitleWord * (titleLength[slot] ?? 0) : 0, perBodyWord * (bodyLength[slot] ?? 0))
      }
    }
  }
  return count
}

/** Like `sumPublicPostings` for the caller's private items; `listed` slots are in `conceptSlots` already. */
function sumPrivatePostings(
  index: IndexView,
  own: PrivatePostings,
  words: readonly number[],
  { cells, conceptSlots }: Scratch,
  listed: number,
  isFilterOnly: boolean,
): number {
  const { numbers } = cells
  const { titleLength, bodyLength } = index.table
  const { perTitleWord, perBodyWord } = lengthParts(index)
  let count = listed
  for (const word of words) {
    own.eachPosting(word, (posting) => {
      const slot = posting >>> CODE_BITS
      const cell = slot * CELL_SIZE
      if (isFilterOnly && numbers[cell + SCORE] === 0) return
      const frequency = numbers[cell + FREQUENCY] ?? 0
      if (frequency === 0) conceptSlots[count++] = slot
      numbers[cell + FREQUENCY] =
        frequency +
        weightFrequency(posting, posting & IN_TITLE ? perTitleWord * (titleLength[slot] ?? 0) : 0, perBodyWord * (bodyLength[slot] ?? 0))
    })
  }
  return count
}

/** The addition of a word of length to the divisor of a frequency, by field: it follows from the means, so each save changes it. */
function lengthParts({ totals }: IndexView): { readonly perTitleWord: number; readonly perBodyWord: number } {
  return {
    perTitleWord: TITLE_LENGTH_PART / (totals.titleLength / totals.items || 1),
    perBodyWord: BODY_LENGTH_PART / (totals.bodyLength / totals.items || 1),
  }
}

/** The weighted, length-normalised frequency that a field code stands for. Higher bits of `code` are ignored. */
function weightFrequency(code: number, title: number, body: number): number {
  let count = code & COUNT_MASK
  if (code & IN_DESCRIPTION) count += DESCRIPTION_WEIGHT
  if (code & IN_TAGS) count += TAG_WEIGHT
  const frequency = count / (1 - BODY_LENGTH_PART + body)
  return code & IN_TITLE ? frequency + TITLE_WEIGHT / (1 - TITLE_LENGTH_PART + title) : frequency
}

/** Up to this many items are all compared; of more, only those with the nearest sign bits. */
const EXACT_UP_TO = 512
const COARSE = 400

/** Cosines of items with one query. */
export interface MeaningScores {
  /** Cosine of the slot's item, -1 to 1; 0 when it has no vector. */
  cosineOf(slot: number): number
  /** The `limit` nearest candidates that are near enough, nearest first. */
  nearest(isCandidate: (slot: number) => boolean, limit: number): { slot: number; cosine: number }[]
}

/** The weighted sum of the query words' vectors; null when no word has one. */
export function queryVector(plan: QueryPlan, embedder: Embedder): Float32Array | null {
  const sum = new Float32Array(DIMS)
  for (const group of plan.groups) {
    const known = embedder.wordVector(group.word)
    if (!known) continue
    for (let i = 0; i < DIMS; i++) sum[i] = (sum[i] ?? 0) + known.weight * (known.vector[i] ?? 0)
  }
  return lengthOf(sum) > 0 ? sum : null
}

/** Cosines of a query vector with the vectors of a column. @param minCosine least cosine of what `nearest` gives */
export function scoreMeaning(index: IndexView, columns: VectorColumns, vector: Float32Array, minCosine: number): MeaningScores {
  const { table } = index
  const cosineOf = columns.compareWith(vector)
  return {
    cosineOf,
    nearest(isCandidate, limit) {
      const slots = index.totals.items <= EXACT_UP_TO ? allSlots(index, isCandidate) : likelySlots(index, columns, vector, isCandidate)
      const near: { slot: number; cosine: number }[] = []
      for (const slot of slots) {
        const cosine = cosineOf(slot)
        if (cosine >= minCosine) near.push({ slot, cosine })
      }
      return near.sort((a, b) => b.cosine - a.cosine || (table.seq[b.slot] ?? 0) - (table.seq[a.slot] ?? 0)).slice(0, limit)
    },
  }
}

/** Uses the first where `has` says so, and the second for the other slots. */
export function combineScores(first: MeaningScores, has: (slot: number) => boolean, second: MeaningScores | null): MeaningScores {
  return {
    cosineOf: (slot) => (has(slot) ? first.cosineOf(slot) : (second?.cosineOf(slot) ?? 0)),
    nearest(isCandidate, limit) {
      const near = first.nearest((slot) => has(slot) && isCandidate(slot), limit)
      const others = second?.nearest((slot) => !has(slot) && isCandidate(slot), limit) ?? []
      return others.length === 0 ? near : [...near, ...others].sort((a, b) => b.cosine - a.cosine).slice(0, limit)
    },
  }
}

function allSlots({ table }: IndexView, isCandidate: (slot: number) => boolean): number[] {
  const slots: number[] = []
  for (let slot = 0; slot < table.capacity; slot++) if (isCandidate(slot)) slots.push(slot)
  return slots
}

/** Candidates with the nearest sign bits: at least `COARSE`. */
function likelySlots({ table }: IndexView, columns: VectorColumns, query: Float32Array, isCandidate: (slot: number) => boolean): number[] {
  const dims = query.length
  const none = dims + 1
  const isIn = new Uint8Array(table.capacity)
  let candidates = 0
  for (let slot = 0; slot < isIn.length; slot++) {
    if (!isCandidate(slot)) continue
    isIn[slot] = 1
    candidates++
  }
  // Often there are none: every item has a vector by the encoder, and those without are asked for.
  if (candidates === 0) return []
  const distances = columns.compareSigns(query, table.capacity)
  const histogram = new Uint32Array(dims + 1)
  for (let slot = 0; slot < distances.length; slot++) {
    const distance = distances[slot] ?? none
    if (isIn[slot] === 1) histogram[distance] = (histogram[distance] ?? 0) + 1
    else distances[slot] = none
  }
  let limit = 0
  for (let sum = 0; limit <= dims && sum < COARSE; limit++) sum += histogram[limit] ?? 0
  const found: number[] = []
  for (let slot = 0; slot < distances.length; slot++) if ((distances[slot] ?? none) < limit) found.push(slot)
  return found
}
