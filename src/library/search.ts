import { blankForbiddenCharacters, isBlank } from './characters.ts'

/** Longest query taken, in characters. */
export const MAX_QUERY = 10_000
/** Distinct words of a query that take part in the match; the rest is left out. */
const MAX_QUERY_WORDS = 24
/** Longest word that takes part, in UTF-16 units. */
const MAX_WORD = 64
/** When fewer items than this hold every word, those holding some of them are listed after. */
export const WIDEN_BELOW = 10

/** A query as the store matches it. No engine's syntax: words and short phrases only. */
export interface ParsedQuery {
  /** None: nothing is found. Each a word, or several that must stand side by side (a run of Chinese or Japanese writing, cut into characters). */
  readonly terms: readonly (readonly string[])[]
  /** Whether the last term also matches longer words that begin with it: the word still being typed. */
  readonly prefixLast: boolean
}

/** Begins with more than a mark: the sign that makes an emoji out of a symbol is no word. */
const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Co}]*/gu
/** Scripts written without spaces: each character is indexed as a word of its own. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu

/**
 * A text as it is indexed: characters of scripts that write no spaces stand apart, everything else as it was.
 * Query and index must go through the same treatment, so both live here.
 */
export function toIndexText(text: string): string {
  return blankForbiddenCharacters(text).replace(UNSPACED, ' $& ')
}

/**
 * Reads what somebody typed. Nothing in it is an operator. A blank text gives null: everything is listed.
 * A text without a single word (`!!!`) gives no terms: nothing is found.
 * @example parseQuery('linux term') // {terms: [['linux'], ['term']], prefixLast: true}
 */
export function parseQuery(query: string): ParsedQuery | null {
  const text = blankForbiddenCharacters(query)
  if (isBlank(text)) return null
  const terms: string[][] = []
  const seen = new Set<string>()
  let prefixLast = false
  for (const match of text.matchAll(WORD)) {
    if (terms.length >= MAX_QUERY_WORDS) break
    const words = toIndexText(match[0].slice(0, MAX_WORD).toWellFormed())
      .toLowerCase()
      .split(' ')
      .filter((word) => word !== '')
    const key = words.join(' ')
    if (words.length === 0 || seen.has(key)) continue
    seen.add(key)
    terms.push(words)
    // Only the word the text ends in may still be growing; one of an unspaced script is whole as it stands.
    prefixLast = words.length === 1 && match.index + match[0].length === text.length
  }
  return { terms, prefixLast }
}
