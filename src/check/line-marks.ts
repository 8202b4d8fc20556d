/** Where a line stands: in a fence or a script, in a quote, or near words about attacks. */
export const FENCED = 1
export const QUOTED = 2
export const ABOUT_ATTACKS = 4

/** Words of texts that are about attacks. */
const ABOUT =
  /\b(?:attack(?:s|er|ers)?|(?:prompt|command|sql|code) injections?|malicious|malware|jailbreaks?|exploits?|vulnerab\w*|red.?flags?|red.?team\w*|anti.?patterns?|phishing|suspicious|unsafe|insecure|never (?:do|use|run|paste|execute)|don'?t (?:do|use|run|paste|execute)|do not (?:use|run|paste|execute) (?:this|these|it|them|such|commands?|the following)|bad example|for example, an? attack)\b/i

/** Which lines of a text stand in fences, and which are quoted. */
export function markLines(lines: readonly string[]): Uint8Array {
  const marks = new Uint8Array(lines.length)
  let fence = ''
  for (const [at, line] of lines.entries()) {
    const opened = line.includes('```') || line.includes('~~~') ? (/^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '') : ''
    if (opened !== '' && (fence === '' || opened.startsWith(fence))) fence = fence === '' ? opened : ''
    else if (fence === '' && opened === '') {
      if (line.includes('>') && line.trimStart().startsWith('>')) marks[at] = QUOTED
      continue
    }
    marks[at] = FENCED
  }
  return marks
}

/** Adds to the marks of lines which of them are about attacks: those below such a heading, and those near such words. */
export function markAbout(lines: readonly string[], marks: Uint8Array): void {
  let isSectionAbout = false
  /** Lines that a remark about attacks still reaches. */
  let reach = 0
  for (const [at, line] of lines.entries()) {
    if (((marks[at] ?? 0) & FENCED) === 0) {
      if (/^\s*#{1,6}\s/.test(line)) isSectionAbout = ABOUT.test(line)
      if (ABOUT.test(line.length > 2000 ? line.slice(0, 2000) : line)) reach = 3
      else if (reach > 0 && line.trim() !== '') reach--
    }
    if (isSectionAbout || reach > 0) marks[at] = (marks[at] ?? 0) | ABOUT_ATTACKS
  }
}

/** A line that begins something of its own: a heading, an item, a table, a fence, a quote, a speaker. */
const OWN_LINE = /^\s{0,8}(?:$|#{1,6}\s|[-*+]\s|\d{1,4}[.)]\s|>|\||```|~~~|<|:::|---|\[?[A-Za-z][\w -]{0,30}\]?:(?:\s|$)|\s{4})/
/** A line after which no prose goes on. */
const ENDS_ALONE = /^\s{0,8}(?:$|#{1,6}\s|\||```|~~~|---|<)|(?: {2}|\\)$/

/** A text whose wrapped lines are one: ends of lines inside a paragraph become spaces, so that places stay. */
export function joinWraps(text: string, marks: Uint8Array): string {
  const lines = text.split('\n')
  let joined = lines[0] ?? ''
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const isProse = ((marks[at] ?? 0) & FENCED) === 0 && ((marks[at - 1] ?? 0) & FENCED) === 0
    joined += `${isProse && !OWN_LINE.test(line) && !ENDS_ALONE.test(lines[at - 1] ?? '') ? ' ' : '\n'}${line}`
  }
  return joined
}
