import { splitCode } from '../text/split-code.ts'
import type { TextChange } from '../text/text-changes.ts'
import { isVariableName } from './variables.ts'

/** `{{name}}`, not `${{…}}` of GitHub nor `={{…}}` of JSX, and `[NAME]`, which is no link, footnote or box to tick. */
const PLACEHOLDER = /(?<![$={])\{\{([^{}\n]{1,80})\}\}(?!\})|(?<![\]\\!])\[(\p{Lu}[\p{Lu}\d _'/-]{1,62}[\p{Lu}\d])\](?![([:])/gu
/** Bracketed texts that are no blanks: notes of writers, and marks of models. */
const MARKS: ReadonlySet<string> = new Set(['TODO', 'FIXME', 'NOTE', 'WARNING', 'IMPORTANT', 'INST', 'SYS', 'SYSTEM', 'USER', 'END'])

/** Blanks of a text that are written in another notation, with the variable each would be: `[CUSTOMER NAME]` is `${customer name}`. */
export function findPlaceholders(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { piece, isCode } of splitCode(text)) {
    if (isCode) continue
    for (const [raw, braced, bracketed = ''] of piece.matchAll(PLACEHOLDER)) {
      const name = braced?.trim() ?? bracketed.toLowerCase()
      if (isVariableName(name) && !MARKS.has(bracketed)) found.set(raw, `\${${name}}`)
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
