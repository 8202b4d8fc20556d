import { blankForbiddenCharacters, isBlank } from '../../library/characters.ts'
import type { QueryWords } from '../../library/ports/search.ts'
import { readQueryWords, SPACED_PART } from './words.ts'

/** Longest query, in characters. */
export const MAX_QUERY = 10_000
/** Further words of a query are ignored. */
const MAX_QUERY_WORDS = 24

/**
 * Parses a query. It has no operators. A blank query gives null: list everything.
 * A query without a word (`!!!`) gives no words: nothing matches.
 * @example parseQuery('linux term') // {words: ['linux', 'term'], isLastGrowing: true}
 */
export function parseQuery(query: string): QueryWords | null {
  return isBlank(blankForbiddenCharacters(query)) ? null : readQueryWords(query, MAX_QUERY_WORDS)
}

/**
 * The query with its misspelt words replaced, for "did you mean"; null when no word was.
 * @param corrections by word, as {@link readQueryWords} gives it
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
