import type { QueryWords } from '../../domain/items/search.ts'
import { blankForbiddenCharacters } from '../../domain/text/characters.ts'

/** Longest word, in UTF-16 units; longer ones are cut. */
const MAX_WORD = 48
/** Longest compound of hyphenated parts, in UTF-16 units. */
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

/** A run of letters and digits. It must not begin with a mark: a variation selector makes a symbol an emoji, not a word. */
const RUN = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Co}]*/gu
/** A character of a script that is written without spaces, or of Hangul, whose words take endings without one. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]\p{M}*/gu
/** The part of a run that is in a script with spaces. */
export const SPACED_PART = new RegExp(`(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}\\p{Co}])+`, 'gu')
export const HAS_UNSPACED = new RegExp(UNSPACED.source, 'u')
/** `c++` and `c#`: the sign is part of the name. */
const SIGNED_LETTER = /(?<![\p{L}\p{N}\p{M}\p{Co}])([a-z])(\+\+|#)(?![\p{L}\p{N}\p{M}\p{Co}])/gu
/** Signs that NFKD turns into letters, although they are not part of the word. */
const WORD_SIGNS = /[™℠]/gu
const IS_ASCII = /^[\0-\x7f]*$/

/** Folds case and accents, so that `É` and `e` match. */
function fold(text: string): string {
  // Fast path: ASCII has nothing more to fold, and without NUL nothing to blank.
  if (IS_ASCII.test(text) && !text.includes('\0')) return text.toLowerCase()
  return blankForbiddenCharacters(text)
    .toLowerCase()
    .replace(WORD_SIGNS, ' ')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .normalize('NFC')
}

/**
 * Tokenizes a text for the index: calls `take` for each word in order, repeats included. Parts joined by a hyphen, apostrophe,
 * underscore, or a point before a short ending (`node.js`), give each part and the compound. Unspaced scripts give each character and
 * each bigram. Queries must be tokenized the same way.
 * @example eachWord('Tic-tac-toe', take) // tic, tac, toe, tictactoe
 */
export function eachWord(text: string, take: (word: string) => void): void {
  const plain = fold(text)
  const folded = /[+#]/.test(plain)
    ? plain.replace(SIGNED_LETTER, (_, letter: string, sign: string) => `${letter} ${letter}${sign === '#' ? 'sharp' : 'plusplus'}`)
    : plain
  const isAscii = IS_ASCII.test(folded)
  const chain: string[] = []
  let separators = ''
  let end = -2
  const endChain = (): void => {
    const joined = chain.length > 1 ? joinChain(chain, separators) : null
    if (joined !== null) take(joined)
    chain.length = 0
    separators = ''
  }
  eachRun(folded, isAscii, (start, stop) => {
    const run = folded.slice(start, stop)
    if (start === end + 1 && JOINERS.includes(folded.charAt(end)) && chain.length < MAX_PARTS) separators += folded.charAt(end)
    else endChain()
    chain.push(run)
    end = stop
    if (isAscii) take(cut(run))
    else eachPart(run, take)
  })
  endChain()
}

/** The compound of a chain of runs; null for a single run, digits, a long chain, or a missing space after a sentence. */
function joinChain(chain: readonly string[], separators: string): string | null {
  if (chain.length < 2) return null
  if (separators.includes('.') && (chain.length > 2 || !/^[a-z]{2,3}$/.test(chain[1] ?? ''))) return null
  const word = chain.join('')
  return word.length <= MAX_JOINED && /^[a-z0-9]*[a-z][a-z0-9]*$/.test(word) ? word : null
}

/** Calls `take` with start and end of each run of letters and digits. ASCII text needs no regular expression. */
function eachRun(text: string, isAscii: boolean, take: (start: number, stop: number) => void): void {
  if (!isAscii) {
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

/** Tokenizes a query. It has no operators. `isLastGrowing`: the last word may still be being typed. */
export function readQueryWords(text: string, limit: number): QueryWords {
  const plain = fold(text)
  const folded = /[+#]/.test(plain)
    ? plain.replace(SIGNED_LETTER, (_, letter: string, sign: string) => `${letter}${sign === '#' ? 'sharp' : 'plusplus'} `)
    : plain
  const words: string[] = []
  let isLastGrowing = false
  eachRun(folded, IS_ASCII.test(folded), (start, stop) => {
    if (words.length >= limit) return
    const run = folded.slice(start, stop)
    const isAtEnd = stop === folded.length
    if (/^[a-z0-9]+$/.test(run)) {
      words.push(cut(run))
      isLastGrowing = isAtEnd
      return
    }
    const parts: string[] = []
    eachPart(run, (part) => parts.push(part))
    // Bigrams replace the single characters they cover, which say little.
    const pairs = parts.filter((part) => !isUnspaced(part, 1) || !parts.some((other) => other.includes(part) && isUnspaced(other, 2)))
    words.push(...pairs.slice(0, limit - words.length))
    isLastGrowing = isAtEnd && parts.length === 1 && !HAS_UNSPACED.test(run)
  })
  return { words, isLastGrowing }
}

/** Whether a part is exactly `count` characters of an unspaced script. */
function isUnspaced(part: string, count: number): boolean {
  const characters = part.match(UNSPACED) ?? []
  return characters.length === count && characters.join('') === part
}
