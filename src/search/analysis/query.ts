import { blankForbiddenCharacters, isBlank } from '../../library/characters.ts'
import type { QueryWords } from '../../library/ports/search.ts'
import { readQueryWords, SPACED_PART } from './words.ts'

/** Longest query taken, in characters. */
export const MAX_QUERY = 10_000
/** Words of a query that take part in the match; the rest is left out. */
const MAX_QUERY_WORDS = 24

/**
 * Reads what somebody typed. Nothing in it is an operator. A blank text gives null: everything is listed.
 * A text without a single word (`!!!`) gives no words: nothing is found.
 * @example parseQuery('linux term') // {words: ['linux', 'term'], isLastGrowing: true}
 */
export function parseQuery(query: string): QueryWords | null {
  return isBlank(blankForbiddenCharacters(query)) ? null : readQueryWords(query, MAX_QUERY_WORDS)
}

/**
 * The query with its misspelt words replaced, for "did you mean"; null when no word was.
 * @param corrections by the word as {@link readQueryWords} reads it
 * @example correctQuery('Pyhton code', new Map([['pyhton', 'python']])) // 'python code'
 */
export function correctQuery(query: string, corrections: ReadonlyMap<string, string>): string | null {
  if (corrections.size === 0) return null
  const corrected = query.replace(SPACED_PART, (part) => {
    const [word] = readQueryWords(part, 1).words
    return (word === undefined ? undefined : corrections.get(word)) ?? part
  })
  return corrected === query ? null : corrected
}
