/** Compiled lists. The lists come from kinds.json alone, so their number is bounded. */
const compiled = new Map<string, RegExp>()

/**
 * The position of the first cue of a list in a text, or -1. A list holds words and phrases between commas; `*` stands for any
 * letters. Whole words match, in any case. Takes linear time.
 * @example findCue('Summarise this', 'summar*, sum up') // 0
 */
export function findCue(text: string, list: string): number {
  return text.search(compile(list))
}

/** Whether a text has a cue of a list. */
export function hasCue(text: string, list: string): boolean {
  return compile(list).test(text)
}

function compile(list: string): RegExp {
  const cached = compiled.get(list)
  if (cached) return cached
  const cues = list.split(', ').map((cue) =>
    cue
      .replace(/[.+?^$()[\]{}|\\]/g, '\\$&')
      .replaceAll('*', '[\\p{L}\\p{M}]*')
      .replaceAll(' ', '\\s+'),
  )
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(?:${cues.join('|')})(?![\\p{L}\\p{M}\\p{N}])`, 'iu')
  compiled.set(list, pattern)
  return pattern
}
