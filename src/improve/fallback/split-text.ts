import { parseVariables } from '../../library/variables.ts'
import { splitPhrases } from './read-words.ts'

/**
 * The lines of a text. A variable is never cut: a line break inside a default does not end the line.
 * @example splitLines('a\n${b:c\nd} e') // ['a', '${b:c\nd} e']
 */
export function splitLines(text: string): string[] {
  const lines: string[] = []
  let current = ''
  for (const segment of parseVariables(text).segments) {
    if (segment.kind === 'variable') {
      current += segment.raw
      continue
    }
    const [first = '', ...rest] = segment.raw.split('\n')
    current += first
    for (const line of rest) {
      lines.push(current)
      current = line
    }
  }
  lines.push(current)
  return lines
}

/** Words whose full stop ends no sentence. */
const ABBREVIATIONS = new Set(
  splitPhrases(`
  e.g., i.e., eg., ie., etc., vs., mr., mrs., ms., dr., st., no., approx., cf., fig., max., min.
`),
)
const OPENING = '([{“«「『'
const CLOSING = ')]}”»」』'

/**
 * The sentences of a line of prose, without the spaces between them. Nothing is split inside quotation marks, brackets or variables:
 * a pasted request keeps its own sentences together. One pass; a mark that never closes joins the rest into one sentence.
 */
export function splitSentences(line: string): string[] {
  const sentences: string[] = []
  let current = ''
  let depth = 0
  let isQuoted = false
  for (const segment of parseVariables(line).segments) {
    if (segment.kind === 'variable') {
      current += segment.raw
      continue
    }
    const text = segment.raw
    let from = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charAt(i)
      if (unit === '"') isQuoted = !isQuoted
      else if (OPENING.includes(unit)) depth++
      else if (CLOSING.includes(unit)) depth = Math.max(0, depth - 1)
      if (depth > 0 || isQuoted || !isSentenceEnd(text, from, i)) continue
      sentences.push((current + text.slice(from, i + 1)).trim())
      current = ''
      from = i + 1
    }
    current += text.slice(from)
  }
  sentences.push(current.trim())
  return sentences.filter((sentence) => sentence !== '')
}

/** Whether a sentence that began at `from` ends with the unit at `i`. */
function isSentenceEnd(text: string, from: number, i: number): boolean {
  const unit = text.charAt(i)
  const next = text.charAt(i + 1)
  if ('。！？'.includes(unit)) return !'。！？”」』"'.includes(next)
  if (!'.!?'.includes(unit) || next.trim() !== '') return false
  return unit !== '.' || !(text.charAt(i - 1) === '.' || ABBREVIATIONS.has(lastWord(text, from, i)) || isListNumber(text, from, i))
}

/** The word that ends at `i`, lower-case, looked for at most ten units back. */
function lastWord(text: string, from: number, i: number): string {
  const start = Math.max(from, i - 10)
  return (
    text
      .slice(start, i + 1)
      .split(/[\s(]/)
      .at(-1)
      ?.toLowerCase() ?? ''
  )
}

/** Whether all that stands between the start of the sentence and its full stop is a number or one letter, as in "1. First". */
function isListNumber(text: string, from: number, i: number): boolean {
  const head = text.slice(Math.max(from, i - 6), i).trim()
  return i - from <= 6 && (/^\d{1,3}$/.test(head) || /^\p{L}$/u.test(head))
}
