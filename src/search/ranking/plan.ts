import type { QueryWords } from '../../domain/items/search.ts'
import { STOP_WORDS } from '../analysis/words.ts'
import type { Vocabulary } from '../index/vocabulary.ts'
import type { Embedder } from '../vectors/embedder.ts'
import type { Neighbour } from '../vectors/neighbours.ts'

/** Weight of completions of the last word: where it is a word of the library itself, and where it is not. */
const COMPLETION_BESIDE_WORD = 0.5
const COMPLETION_ALONE = 0.9
/** Completions tried, the most common first. */
const MAX_COMPLETIONS = 30
/** Weight of the likeliest correction, and of the others. */
const BEST_CORRECTION = 0.9
const OTHER_CORRECTION = 0.6
const MAX_CORRECTIONS = 3
/** A word in at most this many items counts as a typo of one that is `TYPO_FACTOR` times as common and one edit away. */
const TYPO_MAX_COUNT = 2
const TYPO_FACTOR = 10
/** Synonyms tried for each word. Their weight is `SYNONYM_WEIGHT * cosine ** SYNONYM_POWER`. */
const MAX_SYNONYMS = 20
const SYNONYM_WEIGHT = 0.9
const SYNONYM_POWER = 1.25
/** Only the first words of a query are expanded with synonyms. */
const MAX_EXPANDED_WORDS = 12

/** Vocabulary words that are scored as one: the forms of a query word, or of an alternative to it. */
export interface Concept {
  /** Word numbers of the vocabulary. */
  readonly words: readonly number[]
  /** 0 to 1, relative to a match of the query word itself. */
  readonly weight: number
  /** Whether a match counts towards "the item holds every word of the query". False for synonyms. */
  readonly isWord: boolean
}

/** A query word and its alternatives. The first concept is the word itself, when the library has it. */
export interface Group {
  readonly word: string
  readonly isInLibrary: boolean
  readonly concepts: readonly Concept[]
}

/** The plan of a search. */
export interface QueryPlan {
  readonly groups: readonly Group[]
  /** Corrections to show, by query word. */
  readonly corrections: ReadonlyMap<string, string>
}

/** The part of the index a caller may see. Planning reads nothing else, so alternatives never reveal somebody's hidden items. */
export interface IndexScope {
  readonly vocabulary: Vocabulary
  readonly embedder: Embedder
  readonly stem: (word: string) => string
  readonly neighboursOf: (word: string) => readonly Neighbour[]
  /** Document frequency of a word among items the caller may see. 0: for this caller the word does not exist. */
  countOf(word: number): number
}

/** Expands each word of a query into a group of concepts. */
export function planQuery(query: QueryWords, scope: IndexScope): QueryPlan {
  const meaningful = query.words.filter((word) => !STOP_WORDS.has(word))
  const words = [...new Set(meaningful.length > 0 ? meaningful : query.words)]
  const corrections = new Map<string, string>()
  const last = query.isLastGrowing ? query.words.at(-1) : undefined
  const groups = words.map((word, index) => {
    const concepts: Concept[] = []
    const ownForms = findForms(word, scope)
    if (ownForms.length > 0) concepts.push({ words: ownForms, weight: 1, isWord: true })
    const longer = word === last ? findCompletions(word, ownForms, scope) : []
    if (longer.length > 0)
      concepts.push({ words: longer, weight: ownForms.length > 0 ? COMPLETION_BESIDE_WORD : COMPLETION_ALONE, isWord: true })
    const joined = findCompounds(word, query.words, scope)
    if (joined.length > 0) concepts.push({ words: joined, weight: 1, isWord: true })
    const parts = concepts.length === 0 ? splitWord(word, scope) : []
    for (const part of parts) concepts.push({ words: part, weight: BEST_CORRECTION, isWord: true })
    const corrected = findCorrections(word, ownForms, concepts, parts.length > 0, scope)
    // A word of general English that the library does not have is no slip: what is spelled like it may mean something else.
    const isSlip = !scope.embedder.isKnown(word)
    concepts.push(
      ...corrected.map(({ words: forms }, place) => ({
        words: forms,
        weight: place === 0 ? BEST_CORRECTION : OTHER_CORRECTION,
        isWord: isSlip,
      })),
    )
    if (corrected[0] && isSlip) corrections.set(word, corrected[0].word)
    if (index < MAX_EXPANDED_WORDS) concepts.push(...findSynonyms(word, scope))
    return { word, isInLibrary: ownForms.length > 0, concepts }
  })
  return { groups, corrections }
}

/** Whether the caller sees the word itself, not only one of its forms. */
function isHere(word: string, { vocabulary, countOf }: IndexScope): boolean {
  const id = vocabulary.idOf(word)
  return id !== undefined && countOf(id) > 0
}

/** Visible words with the same stem. */
function findForms(word: string, scope: IndexScope): number[] {
  const own = scope.vocabulary.idOf(word)
  const stem = own === undefined ? scope.stem(word) : scope.vocabulary.stemOf(own)
  return scope.vocabulary.withStem(stem).filter((id) => scope.countOf(id) > 0)
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Longer words that begin with a word, the most common first. */
function findCompletions(word: string, ownForms: readonly number[], scope: IndexScope): number[] {
  if (word.length < 2) return []
  const longer = scope.vocabulary.withPrefix(word, (id) => scope.countOf(id) > 0 && !ownForms.includes(id))
  // A completion more common than the word itself would bury it.
  const own = ownForms.reduce((most, id) => Math.max(most, scope.countOf(id)), 0)
  const rarer = ownForms.length > 0 ? longer.filter((id) => scope.countOf(id) <= own) : longer
  return rarer
    .sort((a, b) => scope.countOf(b) - scope.countOf(a) || compareTexts(scope.vocabulary.wordOf(a), scope.vocabulary.wordOf(b)))
    .slice(0, MAX_COMPLETIONS)
}

/** `java script` also finds `javascript`: the word joined with its neighbour on either side. */
function findCompounds(word: string, words: readonly string[], scope: IndexScope): number[] {
  return words.flatMap((other, at) => {
    const next = words[at + 1]
    if (next === undefined || (other !== word && next !== word)) return []
    return findForms(other + next, scope)
  })
}

/** `javascript` also finds `java` with `script`: of all splits into two words, the one whose rarer part is most common. */
function splitWord(word: string, scope: IndexScope): number[][] {
  let best: number[][] = []
  let bestCount = 0
  for (let at = 3; at <= word.length - 3; at++) {
    const [start, end] = [word.slice(0, at), word.slice(at)]
    // `fortran` is not `for` with `tran`, and `relase` not `rel` with `ase`, which shares its stem with `as`.
    if ([start, end].some((part) => STOP_WORDS.has(part) || !isHere(part, scope))) continue
    const parts = [findForms(start, scope), findForms(end, scope)]
    const count = Math.min(...parts.map((forms) => forms.reduce((sum, id) => sum + scope.countOf(id), 0)))
    if (count > bestCount) {
      bestCount = count
      best = parts
    }
  }
  return best
}

/**
 * Candidate corrections: fewest edits first, then the same first letter, then the most common. There are none for a word that is common
 * here or known to general English, nor where what was found instead of it (completions, parts) is more common.
 */
function findCorrections(
  word: string,
  ownForms: readonly number[],
  found: readonly Concept[],
  isParted: boolean,
  scope: IndexScope,
): { word: string; words: number[] }[] {
  if (word.length < 4 || !/^\p{L}+$/u.test(word)) return []
  const { vocabulary, countOf } = scope
  const sumOf = (ids: readonly number[]) => ids.reduce((sum, id) => sum + countOf(id), 0)
  const own = sumOf(ownForms)
  const isKnown = scope.embedder.isKnown(word)
  if (isKnown && found.length > 0) return []
  // A stem can be shared by chance: `desing` has that of the French `des`.
  const isItself = isHere(word, scope)
  if (isItself && own > TYPO_MAX_COUNT) return []
  const rivals = found.slice(ownForms.length > 0 ? 1 : 0).map(({ words }) => sumOf(words))
  // Of two parts, both must be there: the rarer one counts.
  const rival = isParted ? Math.min(...rivals) : Math.max(...rivals)
  const least = isItself ? own * TYPO_FACTOR : Math.max(1, rival)
  const maxDistance = isItself || word.length < 7 ? 1 : 2
  const candidates = vocabulary
    .similarTo(word, maxDistance, (id) => countOf(id) > 0)
    .map(({ id, distance }) => ({ id, distance, text: vocabulary.wordOf(id), count: countOf(id) }))
    .sort(
      (a, b) =>
        a.distance - b.distance ||
        Number(b.text[0] === word[0]) - Number(a.text[0] === word[0]) ||
        b.count - a.count ||
        (a.text < b.text ? -1 : 1),
    )
  const corrections = new Map<string, { word: string; words: number[] }>()
  let nearest: number | undefined
  for (const { id, distance, text } of candidates) {
    if (distance > (nearest ?? distance) || corrections.size >= MAX_CORRECTIONS) break
    const isFound = found.some(({ words }) => words.includes(id))
    // No slip: a form of the word, or what it begins, is nearer.
    if (isFound && !isItself && corrections.size === 0) return []
    const stem = vocabulary.stemOf(id)
    const words = findForms(text, scope)
    if (isFound || corrections.has(stem) || sumOf(words) < least) continue
    nearest = distance
    corrections.set(stem, { word: text, words })
  }
  return [...corrections.values()]
}

/** Words near in meaning, each with its forms, nearest first. */
function findSynonyms(word: string, scope: IndexScope): Concept[] {
  const { vocabulary } = scope
  const own = scope.stem(word)
  const seen = new Set([own])
  const concepts: Concept[] = []
  for (const { id, cosine } of scope.neighboursOf(word)) {
    if (concepts.length >= MAX_SYNONYMS) break
    if (scope.countOf(id) === 0) continue
    const stem = vocabulary.stemOf(id)
    if (seen.has(stem)) continue
    seen.add(stem)
    const words = vocabulary.withStem(stem).filter((form) => scope.countOf(form) > 0)
    if (words.length > 0) concepts.push({ words, weight: SYNONYM_WEIGHT * cosine ** SYNONYM_POWER, isWord: false })
  }
  return concepts
}
