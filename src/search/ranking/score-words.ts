import { COUNT_MASK, IN_DESCRIPTION, IN_TAGS, IN_TITLE } from '../analysis/indexed-text.ts'
import type { KindIndex, PrivatePostings } from '../index/kind-index.ts'
import { CODE_BITS, rangeOf } from '../index/postings.ts'
import type { Group, QueryPlan } from './plan.ts'

/**
 * BM25F (Robertson, Zaragoza 2009): how often a word stands in each field, weighed and made comparable by the field's length, is added up
 * before it is saturated. Title words count as much as so many in the text.
 */
const TITLE_WEIGHT = 4
const TAG_WEIGHT = 2.5
const DESCRIPTION_WEIGHT = 2
const SATURATION = 1.4

/** Most items a word near in meaning may stand in, as a number and as a share of all: a common one says nothing, and costs most. */
const MAX_NEAR_COUNT = 1000
const MAX_NEAR_SHARE = 0.005
/** A word more items hold than this number, and than this share of all, is common. */
const MIN_COMMON_COUNT = 1000
const COMMON_SHARE = 0.1

/** What words say of each item: a score, and which words of the query it holds. Valid until the cells are cleared. */
export interface WordScores {
  /** Slots with a score above zero, the first `count` of the array: public ones, and those of the ownPostings. */
  readonly slots: Uint32Array
  readonly count: number
  readonly cells: Cells
  /** The score of an item that holds every word itself as well as can be. */
  readonly best: number
  scoreOf(slot: number): number
  /** Bit n: the item holds the query's nth word, or what counts as it. */
  heldBy(slot: number): number
}

/**
 * Four numbers a slot, side by side because they are read together: how often the concept at hand stands in the item, weighed by field; what the
 * best concept of the group at hand is worth in it; its score; and the bits of the words it holds. All zero between searches.
 */
interface Cells {
  readonly numbers: Float32Array
  /** The same memory as whole numbers. */
  readonly bits: Uint32Array
}

const SUM = 0
const TOP = 1
const SCORE = 2
const HELD = 3
const CELL = 4

/** Memory to score in. */
export interface Scratch {
  readonly cells: Cells
  /** Lists of slots, of no meaning between searches. */
  readonly slots: Uint32Array
  readonly summed: Uint32Array
  readonly topped: Uint32Array
}

/** Memory for so many slots. */
export function makeScratch(length: number): Scratch {
  const numbers = new Float32Array(length * CELL)
  return {
    cells: { numbers, bits: new Uint32Array(numbers.buffer) },
    slots: new Uint32Array(length),
    summed: new Uint32Array(length),
    topped: new Uint32Array(length),
  }
}

/**
 * Scores items by the words of a plan. The scratch memory holds the answer: call `clearScores` with it before it is used again.
 * @param scratch for at least as many slots as the table has
 */
export function scoreWords(index: KindIndex, scratch: Scratch, plan: QueryPlan, ownPostings: PrivatePostings | null): WordScores {
  const { totals, postings } = index
  const { cells, slots, summed, topped } = scratch
  const { numbers, bits } = cells
  const maxNear = Math.max(MAX_NEAR_COUNT, totals.items * MAX_NEAR_SHARE)
  const rarity = (items: number) => Math.log(1 + (totals.items - items + 0.5) / (items + 0.5))
  let count = 0
  let best = 0
  const groups = plan.groups.map((group, number) => ({ group, bit: 1 << number, isCommon: isCommon(index, group) }))
  const telling = groups.filter(({ isCommon }) => !isCommon)
  // Common words last: they find nothing by themselves where others do.
  for (const { group, bit, isCommon } of telling.length === 0 ? groups : [...telling, ...groups.filter((one) => one.isCommon)]) {
    const onlyFound = isCommon && telling.length > 0
    let reached = 0
    let ownRarity = rarity(0)
    for (const [place, concept] of group.concepts.entries()) {
      if (onlyFound && !concept.isWord) continue
      const words = concept.isWord ? concept.words : concept.words.filter((word) => postings.countOf(word) <= maxNear)
      const inPublic = sumPostings(index, words, scratch, onlyFound)
      const found = rarity(onlyFound ? mostItems(index, words) : inPublic)
      const isItself = place === 0 && group.isInLibrary
      if (isItself) ownRarity = found
      const worth = concept.weight * (group.isInLibrary ? Math.min(found, ownRarity) : found) * (SATURATION + 1)
      const all = ownPostings ? sumPrivatePostings(index, ownPostings, words, scratch, inPublic, onlyFound) : inPublic
      for (let i = 0; i < all; i++) {
        const cell = (summed[i] ?? 0) * CELL
        const sum = numbers[cell + SUM] ?? 0
        numbers[cell + SUM] = 0
        const value = (worth * sum) / (sum + SATURATION)
        const top = numbers[cell + TOP] ?? 0
        if (value > top) {
          if (top === 0) topped[reached++] = summed[i] ?? 0
          numbers[cell + TOP] = value
        }
        if (concept.isWord) bits[cell + HELD] = (bits[cell + HELD] ?? 0) | bit
      }
    }
    for (let i = 0; i < reached; i++) {
      const slot = topped[i] ?? 0
      const cell = slot * CELL
      const score = numbers[cell + SCORE] ?? 0
      if (score === 0) slots[count++] = slot
      numbers[cell + SCORE] = score + (numbers[cell + TOP] ?? 0)
      numbers[cell + TOP] = 0
    }
    best += ownRarity * (SATURATION + 1)
  }
  return {
    slots,
    count,
    cells,
    best,
    scoreOf: (slot) => numbers[slot * CELL + SCORE] ?? 0,
    heldBy: (slot) => bits[slot * CELL + HELD] ?? 0,
  }
}

/** Items that hold the most common of some words. */
function mostItems({ postings }: KindIndex, words: readonly number[]): number {
  return words.reduce((most, word) => Math.max(most, postings.countOf(word)), 0)
}

/** Whether so many items hold a word that it tells them apart no more than a stop word does. */
function isCommon(index: KindIndex, group: Group): boolean {
  const itself = group.isInLibrary ? (group.concepts[0]?.words ?? []) : []
  return mostItems(index, itself) > Math.max(MIN_COMMON_COUNT, index.totals.items * COMMON_SHARE)
}

/** Adds up how often words stand in public items (or only in those that have a score); gives how many items that were, listed in `summed`. */
function sumPostings(index: KindIndex, words: readonly number[], { cells, summed }: Scratch, onlyFound: boolean): number {
  const { numbers } = cells
  const norms = index.norms()
  let count = 0
  for (const word of words) {
    for (const segment of index.postings.segments) {
      const [from, to] = rangeOf(segment, word)
      const { postings } = segment
      for (let at = from; at < to; at++) {
        const posting = postings[at] ?? 0
        const slot = posting >>> CODE_BITS
        const cell = slot * CELL
        if (onlyFound && numbers[cell + SCORE] === 0) continue
        // Zero for what is gone: its norms are.
        const added = frequency(posting, norms[slot * 2] ?? 0, norms[slot * 2 + 1] ?? 0)
        if (added === 0) continue
        const sum = numbers[cell + SUM] ?? 0
        if (sum === 0) summed[count++] = slot
        numbers[cell + SUM] = sum + added
      }
    }
  }
  return count
}

function frequency(code: number, titleNorm: number, bodyNorm: number): number {
  let body = code & COUNT_MASK
  if (code & IN_DESCRIPTION) body += DESCRIPTION_WEIGHT
  if (code & IN_TAGS) body += TAG_WEIGHT
  return code & IN_TITLE ? TITLE_WEIGHT * titleNorm + body * bodyNorm : body * bodyNorm
}

/** Adds what the owner's own items say, which is in no inverted index; gives how many items are listed now. */
function sumPrivatePostings(
  index: KindIndex,
  ownPostings: PrivatePostings,
  words: readonly number[],
  { cells, summed }: Scratch,
  listed: number,
  onlyFound: boolean,
): number {
  const wanted = words.filter((word) => ownPostings.counts.has(word))
  if (wanted.length === 0) return listed
  const { numbers } = cells
  const norms = index.norms()
  let count = listed
  for (const [slot, entries] of ownPostings.items) {
    const cell = slot * CELL
    if (onlyFound && numbers[cell + SCORE] === 0) continue
    for (const word of wanted) {
      const code = codeOf(entries, word)
      if (code === 0) continue
      const sum = numbers[cell + SUM] ?? 0
      if (sum === 0) summed[count++] = slot
      numbers[cell + SUM] = sum + frequency(code, norms[slot * 2] ?? 0, norms[slot * 2 + 1] ?? 0)
    }
  }
  return count
}

/** The code of a word in an item's ascending entries, or 0. */
function codeOf(entries: Float64Array, word: number): number {
  let low = 0
  let high = entries.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const entry = entries[middle] ?? 0
    const found = Math.floor(entry / 256)
    if (found === word) return entry - found * 256
    if (found < word) low = middle + 1
    else high = middle - 1
  }
  return 0
}

/** Makes the cells zero again. */
export function clearScores({ slots, count, cells }: WordScores): void {
  for (let i = 0; i < count; i++) {
    const cell = (slots[i] ?? 0) * CELL
    cells.numbers[cell + SCORE] = 0
    cells.bits[cell + HELD] = 0
  }
}
