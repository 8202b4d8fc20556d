import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { escapeToBuffer, type HtmlEscapedString } from 'hono/utils/html'
import { findMarks, type Marks, type Ranges } from '../../search/analysis/mark-words.ts'

/** A text with the words of a query marked, their forms too. */
export const Highlight: FC<{ text: string; marks: Marks | null }> = ({ text, marks }) => highlight(text, marks)

/** The same outside of JSX. */
export function highlight(text: string, marks: Marks | null): HtmlEscapedString {
  return drawMarked(text, 0, text.length, marks === null ? [] : findMarks(text, marks))
}

/**
 * A part of a text as HTML.
 * @param found the marks of the whole text. None crosses a boundary of the part.
 */
export function drawMarked(text: string, start: number, end: number, found: Ranges): HtmlEscapedString {
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
