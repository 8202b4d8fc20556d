import { blankForbiddenCharacters, isBlank } from '../../library/characters.ts'
import type { QueryWords } from '../../library/ports/search.ts'
import { readQueryWords } from './words.ts'

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
