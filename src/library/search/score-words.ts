import { COUNT_MASK, IN_DESCRIPTION, IN_TAGS, IN_TITLE } from './indexed-text.ts'
import { PUBLIC } from './item-table.ts'
import type { KindIndex, Shelf } from './kind-index.ts'
import type { QueryPlan } from './plan.ts'
import { CODE_BITS, rangeOf } from './postings.ts'

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
const MAX_NEAR_SHARE = 0.02

/** What words say of each item: a score, and which words of the query it holds. By slot; valid until the arrays are cleared. */
export interface WordScores {
  /** Slots with a score above zero, the first `count` of the array: public ones, and those of the shelf. */
  readonly slots: Uint32Array
  readonly count: number
  readonly scores: Float32Array
  /** Bit n: the item holds the query's nth word, or what counts as it. */
  readonly held: Uint32Array
  /** The score of an item that holds every word itself as well as can be. */
  readonly best: number
}

/** Arrays by slot to score in, all zero between searches (`slots` and the lists are of no meaning). */
export interface Scratch {
  readonly slots: Uint32Array
  readonly scores: Float32Array
  readonly held: Uint32Array
  /** Of one concept: how often it stands in the item, weighed by field. */
  readonly sums: Float32Array
  readonly summed: Uint32Array
  /** Of one group: what its best concept is worth in the item. */
  readonly tops: Float32Array
  readonly topped: Uint32Array
}

/** Arrays to score in. */
export function makeScratch(length: number): Scratch {
  return {
    slots: new Uint32Array(length),
    scores: new Float32Array(length),
    held: new Uint32Array(length),
    sums: new Float32Array(length),
    summed: new Uint32Array(length),
    tops: new Float32Array(length),
    topped: new Uint32Array(length),
  }
}

/**
 * Scores items by the words of a plan. The scratch arrays hold the answer: call `clearScores` with it before they are used again.
 * @param scratch at least as long as the table
 */
export function scoreWords(index: KindIndex, scratch: Scratch, plan: QueryPlan, shelf: Shelf | null): WordScores {
  const { totals, postings } = index
  const { slots, scores, held, sums, summed, tops, topped } = scratch
  const maxNear = Math.max(MAX_NEAR_COUNT, totals.items * MAX_NEAR_SHARE)
  const rarity = (items: number) => Math.log(1 + (totals.items - items + 0.5) / (items + 0.5))
  let count = 0
  let best = 0
  plan.groups.forEach((group, number) => {
    const bit = 1 << number
    let reached = 0
    let ownRarity = rarity(0)
    for (const [place, concept] of group.concepts.entries()) {
      const words = concept.isWord ? concept.words : concept.words.filter((word) => postings.countOf(word) <= maxNear)
      const inPublic = sumPostings(index, words, sums, summed)
      const found = rarity(inPublic)
      const isItself = place === 0 && group.isInLibrary
      if (isItself) ownRarity = found
      const worth = concept.weight * (group.isInLibrary ? Math.min(found, ownRarity) : found) * (SATURATION + 1)
      const all = shelf ? sumShelf(index, shelf, words, sums, summed, inPublic) : inPublic
      for (let i = 0; i < all; i++) {
        const slot = summed[i] ?? 0
        const sum = sums[slot] ?? 0
        sums[slot] = 0
        const value = (worth * sum) / (sum + SATURATION)
        const top = tops[slot] ?? 0
        if (value > top) {
          if (top === 0) topped[reached++] = slot
          tops[slot] = value
        }
        if (concept.isWord) held[slot] = (held[slot] ?? 0) | bit
      }
    }
    for (let i = 0; i < reached; i++) {
      const slot = topped[i] ?? 0
      const score = scores[slot] ?? 0
      if (score === 0) slots[count++] = slot
      scores[slot] = score + (tops[slot] ?? 0)
      tops[slot] = 0
    }
    best += ownRarity * (SATURATION + 1)
  })
  return { slots, count, scores, held, best }
}

/** Adds up how often words stand in public items; gives how many items that were, listed in `summed`. */
function sumPostings(index: KindIndex, words: readonly number[], sums: Float32Array, summed: Uint32Array): number {
  const { state } = index.table
  const { title, body } = index.norms()
  let count = 0
  for (const word of words) {
    for (const segment of index.postings.segments) {
      const [from, to] = rangeOf(segment, word)
      const { postings } = segment
      for (let at = from; at < to; at++) {
        const posting = postings[at] ?? 0
        const slot = posting >>> CODE_BITS
        if (state[slot] !== PUBLIC) continue
        const sum = sums[slot] ?? 0
        if (sum === 0) summed[count++] = slot
        sums[slot] = sum + frequency(posting, title[slot] ?? 0, body[slot] ?? 0)
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
function sumShelf(
  index: KindIndex,
  shelf: Shelf,
  words: readonly number[],
  sums: Float32Array,
  summed: Uint32Array,
  listed: number,
): number {
  const wanted = words.filter((word) => shelf.counts.has(word))
  if (wanted.length === 0) return listed
  const { title, body } = index.norms()
  let count = listed
  for (const [slot, entries] of shelf.items) {
    for (const word of wanted) {
      const code = codeOf(entries, word)
      if (code === 0) continue
      const sum = sums[slot] ?? 0
      if (sum === 0) summed[count++] = slot
      sums[slot] = sum + frequency(code, title[slot] ?? 0, body[slot] ?? 0)
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

/** Makes the scratch arrays zero again. */
export function clearScores({ slots, count, scores, held }: WordScores): void {
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0
    scores[slot] = 0
    held[slot] = 0
  }
}
