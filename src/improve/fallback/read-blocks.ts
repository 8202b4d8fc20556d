import { type Heading, readHeading } from './read-heading.ts'
import { splitLines } from './split-text.ts'

/** A piece of a prompt that is never cut on its own level. `raw` is as it was written, without line breaks around it. */
export type Block =
  | { readonly kind: 'heading'; readonly raw: string; readonly heading: Heading }
  | { readonly kind: 'list'; readonly raw: string; readonly isNumbered: boolean }
  | { readonly kind: 'quote'; readonly raw: string }
  | { readonly kind: 'prose'; readonly raw: string }

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/
const BARE_FENCE = /^ {0,3}(?:`{3,}|~{3,}) *$/
const BULLET = /^\s{0,8}(?:[-*•–—✓✔→]|\d{1,3}[.)])\s+\S/u
const NUMBER = /^\s{0,8}\d{1,3}[.)]\s/

/**
 * The blocks of a prompt, each a run of lines: headings, lists, quoted or fenced material, paragraphs. One pass over the lines:
 * whether a fence closes at all is known from the last closing line, so that no search starts twice.
 */
export function readBlocks(text: string): Block[] {
  const lines = splitLines(text)
  const lastFence = lines.findLastIndex((line) => BARE_FENCE.test(line))
  const blocks: Block[] = []
  let i = 0
  while (i < lines.length) {
    const line = lines[i] ?? ''
    const from = i
    if (line.trim() === '') i++
    else if (FENCE.test(line) && i < lastFence) {
      i++
      while (!BARE_FENCE.test(lines[i] ?? '')) i++
      i++
      blocks.push({ kind: 'quote', raw: lines.slice(from, i).join('\n') })
    } else if (isQuoted(line)) {
      while (isQuoted(lines[i] ?? '')) i++
      blocks.push({ kind: 'quote', raw: lines.slice(from, i).join('\n') })
    } else if (BULLET.test(line)) {
      i = endOfList(lines, i)
      blocks.push({ kind: 'list', raw: lines.slice(from, i).join('\n').trimEnd(), isNumbered: NUMBER.test(line) })
    } else {
      const heading = readHeading(line)
      if (heading) {
        i++
        blocks.push({ kind: 'heading', raw: line, heading })
      } else {
        i++
        while (i < lines.length && isProse(lines[i] ?? '')) i++
        blocks.push({ kind: 'prose', raw: lines.slice(from, i).join('\n') })
      }
    }
  }
  return blocks
}

function isQuoted(line: string): boolean {
  return line.startsWith('>') || /^ {0,3}\|/.test(line)
}

function isProse(line: string): boolean {
  return line.trim() !== '' && !FENCE.test(line) && !isQuoted(line) && !BULLET.test(line) && !readHeading(line)
}

/** The index after a list that begins at `from`: its items, what is indented below them, and single blank lines between items. */
function endOfList(lines: readonly string[], from: number): number {
  let i = from + 1
  for (; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (BULLET.test(line) || /^(?: {2}|\t)\s*\S/.test(line)) continue
    const isGap = line.trim() === '' && BULLET.test(lines[i + 1] ?? '')
    if (!isGap) break
  }
  return i
}

/**
 * The items of a list without their bullets; null when the block is more than a flat list, or is numbered other than 1, 2, 3:
 * such a list is kept as it was written.
 */
export function readFlatList(raw: string): string[] | null {
  const items: string[] = []
  let isNumbered: boolean | undefined
  for (const line of splitLines(raw)) {
    if (line.trim() === '') continue
    const bullet = /^(?:[-*•–—✓✔→]|(\d{1,3})[.)])\s+(?=\S)/u.exec(line)
    if (!bullet) return null
    isNumbered ??= bullet[1] !== undefined
    if (isNumbered !== (bullet[1] !== undefined)) return null
    items.push(line.slice(bullet[0].length).trim())
    if (bullet[1] !== undefined && Number(bullet[1]) !== items.length) return null
  }
  // One number alone may be the end of a sentence that was moved here.
  return items.length > (isNumbered ? 1 : 0) ? items : null
}
