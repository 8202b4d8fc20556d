import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { escapeToBuffer, type HtmlEscapedString } from 'hono/utils/html'
import { LRUCache } from 'lru-cache'
import { type FirstWord, firstWords } from '../../domain/text/excerpts.ts'
import { MAX_VARIABLE_VALUE } from '../../domain/variables/variables.ts'
import { findFirstMark, findMarks, type Marks, type Ranges } from '../../search/analysis/mark-words.ts'

/** A text with the words of a query marked, their forms too. */
export const Highlight: FC<{ text: string; marks: Marks | null }> = ({ text, marks }) => highlight(text, marks)

/** The same outside of JSX. */
function highlight(text: string, marks: Marks | null): HtmlEscapedString {
  return drawMarked(text, 0, text.length, marks === null ? [] : findMarks(text, marks))
}

/**
 * A part of a text as HTML.
 * @param found the marks of the whole text. None crosses a boundary of the part.
 */
function drawMarked(text: string, start: number, end: number, found: Ranges): HtmlEscapedString {
  const html: [string] = ['']
  let from = start
  for (const [at, stop] of found) {
    if (at < start) continue
    if (at >= end) break
    escapeToBuffer(text.slice(from, at), html)
    html[0] += '<mark>'
    escapeToBuffer(text.slice(at, stop), html)
    html[0] += '</mark>'
    from = stop
  }
  escapeToBuffer(text.slice(from, end), html)
  return raw(html[0])
}

/** How much of a text is searched for a passage, in UTF-16 units. */
const MAX_READ = 3_000
/**
 * How much of a text is read for a passage, in UTF-16 units. The first is enough for most, which show a quarter of it. The second is read when the
 * first has blanks, or too little text besides markup: it has room for a blank with a long default.
 */
const PASSAGE_READ = [1_000, 2_000 + MAX_VARIABLE_VALUE] as const
/** How much of its end a text loses at most for a cut between words. */
const MAX_CUT = 100
/** How far before the found word a passage begins at most. */
const BEFORE = 40

/** The first words of a text from a place on. */
export function readPassage(text: string, start: number): readonly FirstWord[] {
  const [few, all] = PASSAGE_READ
  const part = text.slice(start, start + few)
  const words = part.includes('${') ? null : firstWords(part)
  const isWhole = words?.isCut || start + few >= text.length
  return (words && isWhole ? words : firstWords(text.slice(start, start + all))).pieces
}

/** The start of a text, as far as passages are looked for in it. */
export function readStart(text: string): string {
  return cutAtSpace(text, MAX_READ).toWellFormed()
}

/** The place in a text where its first passage with a marked word begins, at the start of a line or a word; 0 when there is none. */
export function findPassage(text: string, marks: Marks): number {
  const found = findFirstMark(text, marks)
  if (found <= BEFORE) return 0
  const from = found - BEFORE
  const line = text.lastIndexOf('\n', found - 1)
  if (line >= from) return line + 1
  const space = text.indexOf(' ', from)
  return space === -1 || space >= found ? found : space + 1
}

/** The start of a text, at most so long, without a part of a word where a space is near the end. */
function cutAtSpace(text: string, length: number): string {
  if (text.length <= length) return text
  const space = text.lastIndexOf(' ', length)
  return text.slice(0, space > length - MAX_CUT ? space : length)
}

/** The texts of an item that its row shows. */
interface RowTexts {
  readonly title: string
  readonly description: string | null
  /** Null for a skill. */
  readonly content: string | null
}

/** A piece of what a row shows: its place in the whole, and its HTML without marks. */
interface Piece {
  readonly start: number
  readonly end: number
  readonly html: HtmlEscapedString
}

/** The excerpt of an item's texts in a row. It is read once for all queries: that takes longer than the rest of a row. */
interface RowText {
  readonly texts: RowTexts
  /** Everything that can be marked, a line for each piece: no mark goes past the end of one. */
  readonly shown: string
  readonly title: Piece
  readonly description: Piece | null
  readonly words: readonly (Piece & { readonly isBlank: boolean })[]
  /** Distinct variables in the text. */
  readonly blanks: number
  /** Where passages of the content are looked for; null until one was needed. */
  readonly start: string | null
}

/** A row's texts as HTML, with the words of a query marked. */
export interface DrawnText {
  readonly title: HtmlEscapedString
  readonly description: HtmlEscapedString | null
  /** The first words of a prompt, or a passage. */
  readonly words: HtmlEscapedString
  /** Distinct variables in the text. */
  readonly blanks: number
}

/** About how much of a text one line of a row shows, in UTF-16 units. */
const ONE_LINE = 100
/** Size of the cache: the texts of its items and what was read of them, in UTF-16 units. */
const MAX_CACHED = 8_000_000

/** The size of an entry besides its texts, and of each of its pieces. */
const ENTRY = 400
const PIECE = 100

/** The rows of items that were listed lately, by their ids. */
const cached = new LRUCache<string, RowText>({
  maxSize: MAX_CACHED,
  sizeCalculation: sizeOfRow,
})

function sizeOfRow({ texts, shown, title, description, words, start }: RowText): number {
  let size = ENTRY + lengthOf(texts) + shown.length + (start?.length ?? 0)
  for (const { html } of [title, ...(description === null ? [] : [description]), ...words]) size += PIECE + html.length
  return size
}

function lengthOf({ title, description, content }: RowTexts): number {
  return title.length + (description?.length ?? 0) + (content?.length ?? 0)
}

/**
 * The texts of a row. When nothing of the query would be marked in a prompt's row, a passage of its text shows why it was found.
 * @param id of the item
 * @param marks null marks nothing
 * @param isNear whether the item was found by its meaning alone, and holds none of the words
 */
export function drawRowText(id: string, texts: RowTexts, marks: Marks | null, isNear: boolean): DrawnText {
  const row = readRow(id, texts)
  const { title, description, blanks } = row
  const found = marks === null ? [] : findMarks(row.shown, marks)
  const passage =
    marks === null || isNear || texts.content === null || isSeen(row, found) ? null : drawPassage(id, row, texts.content, marks)
  return {
    title: drawPiece(row, title, found),
    description: description && drawPiece(row, description, found),
    words: passage ?? drawWords(row.words.map((piece) => ({ html: drawPiece(row, piece, found), isBlank: piece.isBlank }))),
    blanks,
  }
}

function readRow(id: string, texts: RowTexts): RowText {
  const known = cached.get(id)
  if (known && isSame(known.texts, texts)) return known
  const row = makeRow(texts)
  cached.set(id, row)
  return row
}

function isSame(a: RowTexts, b: RowTexts): boolean {
  return a.title === b.title && a.description === b.description && a.content === b.content
}

function makeRow(texts: RowTexts): RowText {
  let shown = ''
  const add = (text: string): Piece => {
    const start = shown.length
    shown += `${text}\n`
    return { start, end: start + text.length, html: highlight(text, null) }
  }
  const title = add(texts.title)
  const description = texts.description === null ? null : add(texts.description)
  const first = texts.content === null ? { pieces: [], blanks: 0 } : firstWords(texts.content, texts.title)
  const words = first.pieces.map((piece) =>
    'text' in piece ? { ...add(piece.text), isBlank: false } : { ...add(piece.blank), isBlank: true },
  )
  return { texts, shown, title, description, words, blanks: first.blanks, start: null }
}

/** Whether a row shows one of the marks: descriptions and first words are cut at the end of a line. */
function isSeen({ title, description, words }: RowText, found: Ranges): boolean {
  const inLine = (piece: Piece | null | undefined, at: number, stop: number) => piece && at >= piece.start && stop <= piece.start + ONE_LINE
  return found.some(
    ([at, stop]) => at < title.end || (at < (description?.end ?? 0) && inLine(description, at, stop)) || inLine(words[0], at, stop),
  )
}

function drawPiece({ shown }: RowText, { start, end, html }: Piece, found: Ranges): HtmlEscapedString {
  return found.some(([at]) => at >= start && at < end) ? drawMarked(shown, start, end, found) : html
}

/** A passage that begins near the first marked word; null when there is none further on. */
function drawPassage(id: string, row: RowText, content: string, marks: Marks): HtmlEscapedString | null {
  const read = row.start ?? readStart(content)
  if (row.start === null) cached.set(id, { ...row, start: read })
  const start = findPassage(read, marks)
  if (start === 0) return null
  const words = readPassage(content, start).map((piece) =>
    'text' in piece ? { html: highlight(piece.text, marks), isBlank: false } : { html: highlight(piece.blank, marks), isBlank: true },
  )
  return raw(`… ${drawWords(words)}`)
}

function drawWords(words: readonly { readonly html: HtmlEscapedString; readonly isBlank: boolean }[]): HtmlEscapedString {
  return raw(words.map(({ html, isBlank }) => (isBlank ? `<span class="chip">${html}</span>` : html)).join(''))
}
