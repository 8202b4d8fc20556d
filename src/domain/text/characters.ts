const HIGH_SURROGATE = /[\ud800-\udbff]/

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Number of Unicode code points in `text` (what the limits call "characters"); a lone surrogate counts as one. */
export function countCharacters(text: string): number {
  // Most texts have none, and the engine finds that out many times as fast.
  if (!HIGH_SURROGATE.test(text)) return text.length
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (isHighSurrogate(unit)) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--
        i++
      }
    }
  }
  return count
}

/** Whether `text` has more than `limit` characters, in time bounded by the limit rather than by the text. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  if (text.length > limit * 2) return true
  return countCharacters(text) > limit
}

/** The first `limit` characters of `text`, never splitting a surrogate pair. */
export function cutCharacters(text: string, limit: number): string {
  if (!isLongerThan(text, limit)) return text
  let end = 0
  for (let taken = 0; taken < limit; taken++) {
    const code = text.codePointAt(end)
    end += code !== undefined && code > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

/**
 * `text` cut to at most `limit` characters at the end of a word, with `…` in the limit.
 * @example cutAtWord('one two three', 9) // 'one two…'
 */
export function cutAtWord(text: string, limit: number): string {
  if (!isLongerThan(text, limit)) return text
  const head = cutCharacters(text, limit - 1)
  const space = head.search(/\s\S*$/u)
  return `${(space > head.length / 2 ? head.slice(0, space) : head).trimEnd()}…`
}

/** Whether a text contains what cannot be stored: NUL, or an unpaired surrogate. */
export function hasForbiddenCharacter(text: string): 'NUL' | 'lone surrogate' | null {
  if (text.includes('\0')) return 'NUL'
  return text.isWellFormed() ? null : 'lone surrogate'
}

/** `text` with NUL and lone surrogates turned into spaces: how a query is read. */
export function blankForbiddenCharacters(text: string): string {
  return text.toWellFormed().replaceAll('\0', ' ').replaceAll('\ufffd', ' ')
}

/** Whether a text has nothing but white space (or nothing at all). */
export function isBlank(text: string): boolean {
  return !/\S/u.test(text)
}
