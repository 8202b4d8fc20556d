import { readQueryWords, SPACED_PART } from './words.ts'

/**
 * The query with words that are not in the library put right, or null when none was: "did you mean".
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
