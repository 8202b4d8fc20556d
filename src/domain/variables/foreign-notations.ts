import type { TextChange } from '../text/text-changes.ts'
import { doubleLastBackslashes, escapeVariables, isVariableName, parseVariables, type Syntax } from './variables.ts'

/** A Markdown text in pieces: fenced blocks and what stands between backticks on a line are code. */
export function splitCode(text: string): { readonly piece: string; readonly isCode: boolean }[] {
  const pieces: { piece: string; isCode: boolean }[] = []
  let fence: string | null = null
  for (const line of text.split(/(?<=\n)/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    const isFence = fence === null ? mark !== undefined : mark?.startsWith(fence) === true && line.trim() === mark
    if (fence !== null || isFence) pieces.push({ piece: line, isCode: true })
    else {
      const parts = line.split(/(`+)/)
      // After an odd number of marks, the last one opens nothing.
      const lastMark = parts.length % 4 === 3 ? parts.length - 2 : parts.length
      for (const [index, piece] of parts.entries()) pieces.push({ piece, isCode: index % 4 !== 0 && index < lastMark })
    }
    if (isFence) fence = fence === null ? (mark ?? null) : null
  }
  return pieces
}

/** `{{name}}`, not `${{…}}` of GitHub nor `={{…}}` of JSX, and `[NAME]`, which is no link, footnote or box to tick. */
const PLACEHOLDER = /(?<![$={])\{\{([^{}\n]{1,80})\}\}(?!\})|(?<![\]\\!])\[(\p{Lu}[\p{Lu}\d _'/-]{1,62}[\p{Lu}\d])\](?![([:])/gu
/** Bracketed texts that are no blanks: notes of writers, and marks of models. */
const NO_BLANKS: ReadonlySet<string> = new Set(['TODO', 'FIXME', 'NOTE', 'WARNING', 'IMPORTANT', 'INST', 'SYS', 'SYSTEM', 'USER', 'END'])

/** Blanks of a text that are written in another notation, with the variable each would be: `[CUSTOMER NAME]` is `${customer name}`. */
export function findPlaceholders(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { piece, isCode } of splitCode(text)) {
    if (isCode) continue
    for (const [raw, braced, bracketed = ''] of piece.matchAll(PLACEHOLDER)) {
      const name = braced?.trim() ?? bracketed.toLowerCase()
      if (isVariableName(name) && !NO_BLANKS.has(bracketed)) found.set(raw, `\${${name}}`)
    }
  }
  return found
}

/** A text with variables for what {@link findPlaceholders} finds. Code stays as it is. */
export function convertPlaceholders(text: string): string {
  const found = findPlaceholders(text)
  if (found.size === 0) return text
  const convert = (piece: string) => piece.replaceAll(PLACEHOLDER, (raw) => found.get(raw) ?? raw)
  return splitCode(text)
    .map(({ piece, isCode }) => (isCode ? piece : convert(piece)))
    .join('')
}

/** A text in pieces, each placeholder of `found` a change of its own. */
export function toPlaceholderChanges(text: string, found: ReadonlyMap<string, string>): (string | TextChange)[] {
  const pieces: (string | TextChange)[] = []
  let from = 0
  for (const { 0: raw, index } of found.size === 0 ? [] : text.matchAll(PLACEHOLDER)) {
    const added = found.get(raw)
    if (added === undefined) continue
    pieces.push(text.slice(from, index), { removed: raw, added })
    from = index + raw.length
  }
  return [...pieces, text.slice(from)].filter((piece) => piece !== '')
}

/** A variable `{{name}}`, unlike Mustache's `{{{name}}}`, or a tag that names another prompt. */
const LANGFUSE_MARKS =
  /(?<!\{)\{\{(?<inner>[^{}\n]{1,200})\}\}|@@@langfusePrompt:name=(?<ref>[\p{L}\p{N}_-]{1,120})\|(?<by>version|label)=(?<at>[a-z0-9_.-]{1,36})@@@/gu

/** A text as Langfuse writes it: `{{name}}` for variables, whose defaults are lost, and tags for parts. */
export function toLangfuseText(text: string, syntax: Syntax): string {
  return parseVariables(text, syntax)
    .segments.map((segment) => {
      if (segment.kind === 'text') return segment.text
      if (segment.kind === 'variable') return `{{${segment.raw.slice(2).split(/[:}]/, 1)[0] ?? segment.name}}}`
      const at = segment.at ?? 'latest'
      return `@@@langfusePrompt:name=${segment.ref}|${isNumber(at) ? 'version' : 'label'}=${at}@@@`
    })
    .join('')
}

/**
 * A text of Langfuse in the present syntax, such that {@link toLangfuseText} gives it back to the letter. What cannot be written so, such as
 * a variable inside of a literal `${a:…}`, or more than 100 variables, makes the whole text stand for itself.
 */
export function fromLangfuseText(text: string): string {
  const written = writeMarks(text)
  return toLangfuseText(written, 2) === text ? written : escapeVariables(text)
}

function writeMarks(text: string): string {
  let written = ''
  let from = 0
  for (const found of text.matchAll(LANGFUSE_MARKS)) {
    const mark = toMark(found.groups ?? {})
    if (mark === null) continue
    // A backslash before a mark stays one.
    written += doubleLastBackslashes(escapeVariables(text.slice(from, found.index))) + mark
    from = found.index + found[0].length
  }
  return written + escapeVariables(text.slice(from))
}

/** A variable or part as it is written here; null for what is none. */
function toMark({ inner, ref, by, at = '' }: Partial<Record<string, string>>): string | null {
  if (inner !== undefined) return isVariableName(inner.replaceAll(/^ +| +$/g, '')) ? `\${${inner}}` : null
  return isNumber(at) === (by === 'version') ? `\${> ${ref}@${at}}` : null
}

function isNumber(at: string): boolean {
  return /^\d+$/.test(at)
}
