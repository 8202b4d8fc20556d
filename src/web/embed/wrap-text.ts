/** How wide a character is about, in ems: wide scripts fill a square, most others half of one. */
function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (/\p{M}/u.test(character)) return 0
  if ((code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3)) return 1
  if ((code >= 0xf900 && code <= 0xfaff) || (code >= 0xff00 && code <= 0xff60) || code >= 0x1f000) return 1
  if (/[mwMW@%]/.test(character)) return 0.9
  if (/[A-Z]/.test(character)) return 0.68
  return /[iljtfI.,:;'|!()[\] ]/.test(character) ? 0.31 : 0.55
}

/**
 * Breaks a text into at most `most` lines of at most `width` ems, at spaces where there are some, for pictures, which break no lines themselves.
 * The last one ends with `…` when there was more.
 * Reads no more of the text than it takes. Widths are estimates, on the wide side.
 */
export function wrapText(text: string, width: number, most: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  let isCut = false
  const push = (full: string) => {
    if (lines.length === most) isCut = true
    else lines.push(full.trimEnd())
  }
  for (const character of text) {
    if (isCut) break
    if (character === '\n') {
      push(line)
      line = ''
      used = 0
      continue
    }
    const own = widthOf(character)
    if (used + own > width && line !== '') {
      const space = line.lastIndexOf(' ')
      const isBroken = character !== ' ' && space > 0
      push(isBroken ? line.slice(0, space) : line)
      line = isBroken ? line.slice(space + 1) : ''
      used = [...line].reduce((sum, one) => sum + widthOf(one), 0)
      if (character === ' ' && line === '') continue
    }
    line += character
    used += own
  }
  if (line !== '' && !isCut) push(line)
  const last = lines.at(-1)
  if (isCut && last !== undefined) lines[lines.length - 1] = `${last.replace(/[\s.,;:]?$/u, '')}…`
  return lines
}
