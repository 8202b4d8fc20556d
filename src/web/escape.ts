import { hasControls, showControls, splitControls } from '../domain/text/characters.ts'

/** A text as XML holds it, in an attribute too: control characters are marked, and what XML 1.0 has no place for (section 2.2) is left out. */
export function escapeXml(text: string): string {
  return showControls(text.toWellFormed())
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Where a page holds text: fields and names that hold nothing else, tags, and what stands between them. */
const PARTS = /(<textarea\b[^>]*>)[^<]*|(<(?:title|option)\b[^>]*>)([^<]*)|<[a-z/!][^>]*>|[^<]+|</gi
/** Attributes that people see or hear. Others hold values, which stay as they are. */
const SHOWN = /( (?:alt|aria-label|content|placeholder|title)=")([^"]*)"/g

/** Runs of control characters that are marked on one page; further ones are replaced, so that no page grows by more than its marks. */
const MAX_MARKED = 500

/**
 * A page with the control characters of other people's texts marked, in whatever part of it they stand: the seam all pages go through.
 * The characters themselves stay in the page, isolated from what is around them (`bdi`), so that a copy is the original; sheets write the
 * mark. Values of fields stay as they are.
 */
export function markControls(html: string): string {
  if (!hasControls(html)) return html
  const budget = { left: MAX_MARKED }
  return html.replace(PARTS, (part, textarea?: string, holder?: string, held = '') => {
    if (!hasControls(part)) return part
    if (textarea !== undefined) return markTag(textarea) + part.slice(textarea.length)
    if (holder !== undefined) return markTag(holder) + showControls(held)
    return part.startsWith('<') ? markTag(part) : markText(part, budget)
  })
}

function markTag(tag: string): string {
  return tag.replace(SHOWN, (_, start: string, value: string) => `${start}${showControls(value)}"`)
}

function markText(text: string, budget: { left: number }): string {
  return splitControls(text, budget.left)
    .map((piece) => {
      if (typeof piece === 'string') return piece
      budget.left--
      // A parser turns a carriage return into a line feed, unless it is written as a reference.
      return `<bdi data-controls="${piece.name}">${piece.controls.replaceAll('\r', '&#13;')}</bdi>`
    })
    .join('')
}
