import { type Part, readPart } from './heading-words.ts'
import { readWords } from './read-words.ts'

/** How the writer marks sections; what is added is marked the same way. `level` counts the hashes. */
export type HeadingStyle =
  | { readonly kind: 'hash'; readonly level: number }
  | { readonly kind: 'bold' }
  | { readonly kind: 'label' }
  | { readonly kind: 'capitals' }

/** A line that opens a section. `rest` is what follows the label on the same line, empty when it stands alone. */
export interface Heading {
  readonly title: string
  readonly part: Part | null
  readonly style: HeadingStyle
  readonly rest: string
}

const MAX_HEADING = 100
const MAX_LABEL = 60
const MAX_LABEL_WORDS = 7

/** Reads a line as a heading (`## Rules`), a bold one (`**Rules**`), a label (`Rules:`) or a label the vocabulary knows with text after it (`Role: …`). */
export function readHeading(line: string): Heading | null {
  const text = line.trim()
  return readHashHeading(text) ?? readBoldHeading(text) ?? readTag(text) ?? readLabel(text)
}

function readHashHeading(text: string): Heading | null {
  if (!text.startsWith('#') || text.length > MAX_HEADING) return null
  let level = 0
  while (text[level] === '#') level++
  if (level > 6 || text[level] !== ' ') return null
  const title = bare(text.slice(level))
  if (!/\p{L}/u.test(title)) return null
  return { title, part: readPart(title), style: { kind: 'hash', level }, rest: '' }
}

function readBoldHeading(text: string): Heading | null {
  if (!text.startsWith('**')) return null
  const end = text.indexOf('**', 2)
  if (end === -1 || end > MAX_LABEL) return null
  const inner = text.slice(2, end).trim()
  const after = text.slice(end + 2).trim()
  const title = bare(inner)
  if (!/\p{L}/u.test(title)) return null
  const isLabel = inner.endsWith(':') || after.startsWith(':')
  const rest = after.startsWith(':') ? after.slice(1).trim() : after
  const part = readPart(title)
  if (rest !== '' && !(isLabel && part)) return null
  return { title, part, style: { kind: 'bold' }, rest }
}

/** `[ROLE]` or `<role>` alone on a line, when the vocabulary knows it. */
function readTag(text: string): Heading | null {
  const isTag = (text.startsWith('[') && text.endsWith(']')) || (text.startsWith('<') && text.endsWith('>'))
  if (!isTag || text.length > MAX_LABEL) return null
  const title = text.slice(1, -1).trim()
  const part = title.startsWith('/') ? null : readPart(title)
  return part && { title, part, style: { kind: 'hash', level: 2 }, rest: '' }
}

function readLabel(text: string): Heading | null {
  const colon = text.slice(0, MAX_LABEL).search(/[:：]/)
  if (colon < 2) return null
  const title = text.slice(0, colon).trim()
  const rest = text.slice(colon + 1).trim()
  if (!/^\p{L}[^.!?;$<>"“=(]*$/u.test(title) || readWords(title).trim().split(' ').length > MAX_LABEL_WORDS) return null
  const part = readPart(title)
  // A lower-case line that ends in a colon is more often code (`try:`) or the head of a list in prose than a heading.
  if (!part && (rest !== '' || /^\p{Ll}/u.test(title))) return null
  const isCapitals = title === title.toUpperCase() && title !== title.toLowerCase()
  return { title, part, style: { kind: isCapitals ? 'capitals' : 'label' }, rest }
}

/** A title without the marks around it: emphasis, closing hashes, a colon. */
function bare(title: string): string {
  let text = title.trim()
  while (text !== '' && '#*_:` '.includes(text.charAt(text.length - 1))) text = text.slice(0, -1)
  let from = 0
  while (from < text.length && '*_` '.includes(text.charAt(from))) from++
  return text.slice(from)
}

/** A title in a style, as the line or lines that open its section. @example writeHeading('Rules', {kind: 'label'}) // 'Rules:' */
export function writeHeading(title: string, style: HeadingStyle): string {
  switch (style.kind) {
    case 'hash':
      return `${'#'.repeat(style.level)} ${title}`
    case 'bold':
      return `**${title}:**`
    case 'capitals':
      return `${title.toUpperCase()}:`
    case 'label':
      return `${title}:`
  }
}
