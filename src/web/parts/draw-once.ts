import { raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { LRUCache } from 'lru-cache'
import type { Words } from '../site.ts'

/** Size of the drawn parts of one language, in UTF-16 units, with their keys. */
const MAX_DRAWN = 2_000_000
/** The size of an entry besides its texts. */
const ENTRY = 200

const drawn = new WeakMap<object, LRUCache<string, HtmlEscapedString>>()

/**
 * A part of a page that many pages show, drawn once: its key and its words say everything that it depends on.
 * @param words the catalogue it is drawn in
 * @param key of the part: everything besides the catalogue that it depends on
 * @param draw of JSX that waits for nothing
 */
export function drawOnce(words: Words, key: string, draw: () => { toString(): string | Promise<string> }): HtmlEscapedString {
  const parts = drawn.get(words) ?? new LRUCache({ maxSize: MAX_DRAWN, sizeCalculation: ({ length }, key) => length + key.length + ENTRY })
  drawn.set(words, parts)
  const known = parts.get(key)
  if (known) return known
  const html = draw().toString()
  if (typeof html !== 'string') throw new Error('A part that is drawn once waits for nothing.')
  const part = raw(html)
  parts.set(key, part)
  return part
}
