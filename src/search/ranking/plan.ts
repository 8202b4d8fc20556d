import type { QueryWords } from '../../library/ports/search.ts'
import { STOP_WORDS } from '../analysis/words.ts'
import type { Vocabulary } from '../index/vocabulary.ts'
import type { Embedder } from '../vectors/embedder.ts'
import type { Neighbour } from '../vectors/neighbours.ts'

/** Weight of words that only begin with the last word typed, beside that word itself, and where it is no word yet. */
const PREFIX_BESIDE_WORD = 0.5
const PREFIX_ALONE = 0.9
/** Longer words taken for the one being typed, the most common first. */
const MAX_PREFIXED = 30
/** Weight of the likeliest correction of a word that is not in the library, and of the next. */
const BEST_CORRECTION = 0.9
const OTHER_CORRECTION = 0.6
const MAX_CORRECTIONS = 3
/** A word this rare is taken for a slip when one edit makes it a word so many times as common. */
const SLIP_COUNT = 2
const SLIP_FACTOR = 10
/** Words near in meaning taken for each word, their weight at a cosine of 1, and the power the cosine falls off with. */
const MAX_NEAR = 20
const NEAR_WEIGHT = 0.9
const NEAR_POWER = 1.25
/** Words of a query whose neighbours in meaning are looked for. */
const MAX_WIDENED = 12

/** Words that count as one: the forms of a word, or one of its stand-ins. */
interface Concept {
  /** Numbers in the vocabulary. */
  readonly words: readonly number[]
  /** 0 to 1: how much finding it is worth beside finding the word itself. */
  readonly weight: number
  /** Whether finding it counts as finding the word, so that an item that has them all holds the whole query. */
  readonly isWord: boolean
}

/** A word of the query, and all that may stand for it. The first concept is the word itself, when the library has it. */
export interface Group {
  readonly word: string
  readonly isInLibrary: boolean
  readonly concepts: readonly Concept[]
}

/** How a query is looked for. */
export interface QueryPlan {
  readonly groups: readonly Group[]
  /** Corrections to show, by the word as it was read. */
  readonly corrections: ReadonlyMap<string, string>
}

/** What a plan may know of the library: what the caller may see. */
export interface Sight {
  readonly vocabulary: Vocabulary
  readonly embedder: Embedder
  readonly stem: (word: string) => string
  readonly neighboursOf: (word: string) => readonly Neighbour[]
  /** In how many items the caller may see a word stands. 0: to this caller it does not exist. */
  countOf(word: number): number
}

/** Plans how the words of a query are looked for. */
export function planQuery(query: QueryWords, sight: Sight): QueryPlan {
  const meaningful = query.words.filter((word) => !STOP_WORDS.has(word))
  const words = [...new Set(meaningful.length > 0 ? meaningful : query.words)]
  const corrections = new Map<string, string>()
  const last = query.isLastGrowing ? query.words.at(-1) : undefined
  const groups = words.map((word, index) => {
    const concepts: Concept[] = []
    const itself = formsOf(word, sight)
    if (itself.length > 0) concepts.push({ words: itself, weight: 1, isWord: true })
    const longer = word === last ? prefixed(word, itself, sight) : []
    if (longer.length > 0) concepts.push({ words: longer, weight: itself.length > 0 ? PREFIX_BESIDE_WORD : PREFIX_ALONE, isWord: true })
    const joined = joinedForms(word, query.words, sight)
    if (joined.length > 0) concepts.push({ words: joined, weight: 1, isWord: true })
    if (concepts.length === 0) {
      const parts = split(word, sight)
      for (const part of parts) concepts.push({ words: part, weight: BEST_CORRECTION, isWord: true })
    }
    if (isUnlikely(word, itself, concepts, sight)) {
      const corrected = correct(word, itself, sight)
      concepts.push(
        ...corrected.map(({ words: forms }, place) => ({
          words: forms,
          weight: place === 0 ? BEST_CORRECTION : OTHER_CORRECTION,
          isWord: true,
        })),
      )
      const [best] = corrected
      if (best && !sight.embedder.isKnown(word)) corrections.set(word, best.word)
    }
    if (index < MAX_WIDENED) concepts.push(...near(word, sight))
    return { word, isInLibrary: itself.length > 0, concepts }
  })
  return { groups, corrections }
}

/** The forms of a word (those with its stem) the caller may see. */
function formsOf(word: string, sight: Sight): number[] {
  const own = sight.vocabulary.idOf(word)
  const stem = own === undefined ? sight.stem(word) : sight.vocabulary.stemOf(own)
  return sight.vocabulary.withStem(stem).filter((id) => sight.countOf(id) > 0)
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function prefixed(word: string, itself: readonly number[], sight: Sight): number[] {
  if (word.length < 2) return []
  const longer = sight.vocabulary.withPrefix(word, (id) => sight.countOf(id) > 0 && !itself.includes(id))
  // Beside the word itself only rarer ones: what is more common would bury it.
  const own = itself.reduce((most, id) => Math.max(most, sight.countOf(id)), 0)
  const rarer = itself.length > 0 ? longer.filter((id) => sight.countOf(id) <= own) : longer
  return rarer
    .sort((a, b) => sight.countOf(b) - sight.countOf(a) || compareTexts(sight.vocabulary.wordOf(a), sight.vocabulary.wordOf(b)))
    .slice(0, MAX_PREFIXED)
}

/** `java script`: the word joined with its neighbour on either side, where the library has that. */
function joinedForms(word: string, words: readonly string[], sight: Sight): number[] {
  return words.flatMap((other, at) => {
    const next = words[at + 1]
    if (next === undefined || (other !== word && next !== word)) return []
    return formsOf(other + next, sight)
  })
}

/** A word the library does not have, parted into two it has: the pair whose rarer part is most common. */
function split(word: string, sight: Sight): number[][] {
  let best: number[][] = []
  let bestCount = 0
  for (let at = 3; at <= word.length - 3; at++) {
    const parts = [formsOf(word.slice(0, at), sight), formsOf(word.slice(at), sight)]
    const count = Math.min(...parts.map((forms) => forms.reduce((sum, id) => sum + sight.countOf(id), 0)))
    if (count > bestCount) {
      bestCount = count
      best = parts
    }
  }
  return best
}

/** Whether a word may be a slip of the hand: nothing in the library is it, or begins with it, or is made of it; or it is hardly there and in no dictionary. */
function isUnlikely(word: string, itself: readonly number[], concepts: readonly Concept[], sight: Sight): boolean {
  if (word.length < 4 || !/^\p{L}+$/u.test(word)) return false
  if (itself.length === 0) return concepts.length === 0
  if (sight.embedder.isKnown(word)) return false
  return itself.reduce((sum, id) => sum + sight.countOf(id), 0) <= SLIP_COUNT
}

/** What a word may have been meant to be: fewest edits first, then the same first letter, then the most common. */
function correct(word: string, itself: readonly number[], sight: Sight): { word: string; words: number[] }[] {
  const own = itself.reduce((sum, id) => sum + sight.countOf(id), 0)
  const { vocabulary } = sight
  const isLikelier = (id: number) => (own === 0 ? sight.countOf(id) > 0 : sight.countOf(id) >= own * SLIP_FACTOR)
  const maxDistance = own > 0 || word.length < 7 ? 1 : 2
  const candidates = vocabulary
    .similarTo(word, maxDistance, (id) => isLikelier(id) && !itself.includes(id))
    .map(({ id, distance }) => ({ id, distance, text: vocabulary.wordOf(id), count: sight.countOf(id) }))
    .sort(
      (a, b) =>
        a.distance - b.distance ||
        Number(b.text[0] === word[0]) - Number(a.text[0] === word[0]) ||
        b.count - a.count ||
        (a.text < b.text ? -1 : 1),
    )
  const nearest = candidates[0]?.distance ?? 0
  const found = new Map<string, { word: string; words: number[] }>()
  for (const { id, distance, text } of candidates) {
    if (distance > nearest || found.size >= MAX_CORRECTIONS) break
    const stem = vocabulary.stemOf(id)
    if (!found.has(stem)) found.set(stem, { word: text, words: formsOf(text, sight) })
  }
  return [...found.values()]
}

/** Words of the library near in meaning, each with its forms, nearest first. */
function near(word: string, sight: Sight): Concept[] {
  const { vocabulary } = sight
  const own = sight.stem(word)
  const seen = new Set([own])
  const concepts: Concept[] = []
  for (const { id, cosine } of sight.neighboursOf(word)) {
    if (concepts.length >= MAX_NEAR) break
    if (sight.countOf(id) === 0) continue
    const stem = vocabulary.stemOf(id)
    if (seen.has(stem)) continue
    seen.add(stem)
    const words = vocabulary.withStem(stem).filter((form) => sight.countOf(form) > 0)
    if (words.length > 0) concepts.push({ words, weight: NEAR_WEIGHT * cosine ** NEAR_POWER, isWord: false })
  }
  return concepts
}
