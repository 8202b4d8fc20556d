import { blankForbiddenCharacters } from '../../library/characters.ts'
import type { QueryWords } from '../../library/ports/search.ts'

/** Longest word kept, in UTF-16 units; the rest of a longer one is left out. */
const MAX_WORD = 48
/** Longest word made by joining what a hyphen parted, in UTF-16 units. */
const MAX_JOINED = 32
const MAX_PARTS = 4
const JOINERS = "-'’_."

/**
 * English stop words. A query that has other words is searched without them. Stop words of other languages need no list: where they
 * occur they are common, and common words weigh little.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the and or but if then than so of to in on at by for from with without into onto over under about as',
    'is are was were be been being am do does did doing done have has had having',
    'i me my mine we us our ours you your yours he him his she her hers it its they them their theirs',
    'this that these those there here what which who whom whose when where why how',
    'can could will would shall should may might must not no nor only own same too very just let lets',
    's t d ll m re ve don dont isnt cant please help want need using use get got',
  ].flatMap((line) => line.split(' ')),
)

/** A run of letters and digits. Begins with more than a mark: the sign that makes an emoji out of a symbol is no word. */
const RUN = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Co}]*/gu
/** One character of a script that is written without spaces, or whose words grow endings without one. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]\p{M}*/gu
/** What of a run is in a script with spaces. */
export const SPACED_PART = new RegExp(`(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}\\p{Co}])+`, 'gu')
const HAS_UNSPACED = new RegExp(UNSPACED.source, 'u')
/** `c++`, `c#`: a sign that makes another name of a letter. */
const SIGNED_LETTER = /(?<![\p{L}\p{N}\p{M}\p{Co}])([a-z])(\+\+|#)(?![\p{L}\p{N}\p{M}\p{Co}])/gu
/** Signs that fold into letters, and are no part of the word they stand at. */
const WORD_SIGNS = /[™℠]/gu
/** A text folded: small letters, accents taken off. `é` and `e` are one letter to whoever searches. */
function fold(text: string): string {
  const plain = blankForbiddenCharacters(text).toLowerCase()
  // Nothing to fold in ASCII: most texts.
  if (/^[\0-\x7f]*$/.test(plain)) return plain
  return plain
    .replace(WORD_SIGNS, ' ')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .normalize('NFC')
}

/**
 * Calls `take` for every word of a text as it is indexed, in order, repeats included. What a hyphen, an apostrophe or an underscore holds
 * together, or a point before a short ending (`node.js`), gives its parts and the joined word; a run of an unspaced script gives each
 * character and each pair of neighbours. Query and index go through the same reading, or nothing would be found.
 * @example eachWord('Tic-tac-toe', take) // tic, tac, toe, tictactoe
 */
export function eachWord(text: string, take: (word: string) => void): void {
  const folded = fold(text).replace(
    SIGNED_LETTER,
    (_, letter: string, sign: string) => `${letter} ${letter}${sign === '#' ? 'sharp' : 'plusplus'}`,
  )
  let chain: string[] = []
  let separators = ''
  let end = -2
  const endChain = (): void => {
    const joined = joinChain(chain, separators)
    if (joined !== null) take(joined)
    chain = []
    separators = ''
  }
  eachRun(folded, (start, stop) => {
    const run = folded.slice(start, stop)
    if (start === end + 1 && JOINERS.includes(folded.charAt(end)) && chain.length < MAX_PARTS) separators += folded.charAt(end)
    else endChain()
    chain.push(run)
    end = stop
    eachPart(run, take)
  })
  endChain()
}

/** What a chain of runs is as one word, or null when it is none: a single run, digits alone, too long, a sentence's end without a space. */
function joinChain(chain: readonly string[], separators: string): string | null {
  if (chain.length < 2) return null
  if (separators.includes('.') && (chain.length > 2 || !/^[a-z]{2,3}$/.test(chain[1] ?? ''))) return null
  const word = chain.join('')
  return word.length <= MAX_JOINED && /^[a-z0-9]*[a-z][a-z0-9]*$/.test(word) ? word : null
}

/** Calls `take` with the borders of each run of letters and digits. ASCII, which most texts are, goes without regular expressions. */
function eachRun(text: string, take: (start: number, stop: number) => void): void {
  if (!/^[\0-\x7f]*$/.test(text)) {
    for (const match of text.matchAll(RUN)) take(match.index, match.index + match[0].length)
    return
  }
  let start = -1
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    const isInside = (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
    if (isInside && start < 0) start = at
    else if (!isInside && start >= 0) {
      take(start, at)
      start = -1
    }
  }
}

function eachPart(run: string, take: (word: string) => void): void {
  if (/^[a-z0-9]+$/.test(run) || !HAS_UNSPACED.test(run)) {
    take(cut(run))
    return
  }
  let end = 0
  let previous: string | null = null
  for (const match of run.matchAll(UNSPACED)) {
    if (match.index > end) {
      take(cut(run.slice(end, match.index)))
      previous = null
    }
    const [character] = match
    take(character)
    if (previous !== null) take(previous + character)
    previous = character
    end = match.index + character.length
  }
  if (end < run.length) take(cut(run.slice(end)))
}

function cut(word: string): string {
  return word.length <= MAX_WORD ? word : word.slice(0, MAX_WORD).toWellFormed()
}

/** The words of a query. Nothing in it is an operator. */
export function readQueryWords(text: string, limit: number): QueryWords {
  const folded = fold(text).replace(SIGNED_LETTER, (_, letter: string, sign: string) => `${letter}${sign === '#' ? 'sharp' : 'plusplus'} `)
  const words: string[] = []
  let isLastGrowing = false
  for (const match of folded.matchAll(RUN)) {
    if (words.length >= limit) break
    const parts: string[] = []
    eachPart(match[0], (part) => parts.push(part))
    // Of characters that stand together the pairs alone: a single one says little where its neighbours are known.
    const pairs = parts.filter((part) => !isUnspaced(part, 1) || !parts.some((other) => other.includes(part) && isUnspaced(other, 2)))
    words.push(...pairs.slice(0, limit - words.length))
    isLastGrowing = match.index + match[0].length === folded.length && parts.length === 1 && !HAS_UNSPACED.test(match[0])
  }
  return { words, isLastGrowing }
}

/** Whether a part is so many characters of an unspaced script. */
function isUnspaced(part: string, count: number): boolean {
  const characters = part.match(UNSPACED) ?? []
  return characters.length === count && characters.join('') === part
}
