import type { QueryWords } from '../../domain/items/search.ts'
import { blankForbiddenCharacters, isBlank } from '../../domain/text/characters.ts'
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

/**
 * A number shared by texts of the same words in the same order, by which a query finds the item it is the title of. Texts of other words
 * share it about once in 2^52 pairs. 0: no words.
 */
export function titleKey(text: string): number {
  let low = 0
  let high = 0
  for (const word of readQueryWords(text, MAX_QUERY_WORDS).words) {
    for (let i = 0; i <= word.length; i++) {
      const unit = i < word.length ? word.charCodeAt(i) : 32
      low = Math.imul(low ^ unit, 0x01000193) >>> 0
      high = Math.imul(high + unit + 1, 0x9e3779b1) >>> 0
    }
  }
  return (high & 0xfffff) * 2 ** 32 + low
}

/**
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. Gives `limit + 1` for anything above
 * `limit`, in O(limit * length).
 */
export function damerauLevenshtein(a: string, b: string, limit: number): number {
  const beyond = limit + 1
  if (Math.abs(a.length - b.length) > limit) return beyond
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const current = new Array<number>(b.length + 1).fill(beyond)
    if (i <= limit) current[0] = i
    let smallest = beyond
    const from = Math.max(1, i - limit)
    const to = Math.min(b.length, i + limit)
    for (let j = from; j <= to; j++) {
      const isSame = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      let edits = Math.min((previous[j] ?? beyond) + 1, (current[j - 1] ?? beyond) + 1, (previous[j - 1] ?? beyond) + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1)) {
        edits = Math.min(edits, (before[j - 2] ?? beyond) + 1)
      }
      current[j] = edits
      smallest = Math.min(smallest, edits)
    }
    if (smallest > limit && (i > limit || (current[0] ?? beyond) > limit)) return beyond
    before = previous
    previous = current
  }
  return Math.min(previous[b.length] ?? beyond, beyond)
}
