import { readQueryWords } from './words.ts'

/** A run of letters and digits as it was typed. */
const RUN = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Co}]*/gu

/**
 * The query with words that are not in the library put right, or null when none was: "did you mean".
 * @param corrections by the word as {@link readQueryWords} reads it
 * @example correctQuery('Pyhton code', new Map([['pyhton', 'python']])) // 'python code'
 */
export function correctQuery(query: string, corrections: ReadonlyMap<string, string>): string | null {
  if (corrections.size === 0) return null
  const corrected = query.replace(RUN, (run) => {
    const [word] = readQueryWords(run, 1).words
    return (word === undefined ? undefined : corrections.get(word)) ?? run
  })
  return corrected === query ? null : corrected
}
