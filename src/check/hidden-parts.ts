import { findLast } from './word-index.ts'

/** Styles that hide an element. */
const HIDING =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|rem)?\b|opacity\s*:\s*0(?![.\d])|(?:[\s"';]color\s*:|^<font\b[^>]{0,100}color\s*=)\s*["']?(?:white|#fff(?:fff)?|transparent)\b|left\s*:\s*-\d{3,}|\shidden(?=[\s>=])|aria-hidden|^<script\b[^>]{0,100}type\s*=\s*["']?text\/(?:plain|x-\w+)|^<template\b/i
/** A comment that is not closed ends here. */
const MAX_COMMENT = 20_000
const MAX_ELEMENT = 4000

/** Comments of HTML, and definitions of links that define nothing: what a rendered page does not show. */
export function* findComments(text: string): Generator<readonly [from: number, to: number]> {
  for (let at = text.indexOf('<!--'); at >= 0; ) {
    const end = text.indexOf('-->', at + 4)
    const to = Math.min(end < 0 ? text.length : end + 3, at + MAX_COMMENT)
    yield [at, to]
    at = text.indexOf('<!--', to)
  }
  if (text.includes(']:'))
    for (const { 0: found, index } of text.matchAll(/^\[[^\]\n]{1,80}\]:\s{0,8}(?:#|<>)[^\n]{0,2000}/gm))
      yield [index, index + found.length]
}

/** Elements that do not show, from their tags to the next tag; `tagEnd` is where the tag ends. */
export function* findHiddenElements(text: string): Generator<readonly [from: number, to: number, tagEnd: number]> {
  if (!text.includes('<')) return
  for (const { 0: tag, index } of text.matchAll(/<[a-z][\w-]{0,12}\b[^<>]{0,600}>/gi)) {
    const tagEnd = index + tag.length
    const isEmptySummary = tag === '<details>' && /^\s{0,20}<summary>\s{0,20}<\/summary>/.test(text.slice(tagEnd, tagEnd + 80))
    if (!isEmptySummary && !HIDING.test(tag)) continue
    // A placeholder, such as `new <template>`, opens nothing.
    if (/^<template/i.test(tag) && !text.includes('</template', tagEnd)) continue
    const next = isEmptySummary ? text.indexOf('</details>', tagEnd) : text.indexOf('<', tagEnd)
    yield [index, Math.min(next < 0 ? text.length : next, tagEnd + MAX_ELEMENT), tagEnd]
  }
}

/** Whether readers of a rendered text see a place: not in comments, hidden elements, and fields of the frontmatter but its name and description. */
export function findUnseen(text: string, headEnd: number): (at: number) => boolean {
  const fields = text.slice(0, headEnd).matchAll(/^(?!description\b|name\b)[\w-]{1,60}:[^\n]{0,2000}(?:\n[ \t]+[^\n]{0,2000}){0,200}/gm)
  const parts: (readonly [from: number, to: number, ...unknown[]])[] = [
    ...findComments(text),
    ...findHiddenElements(text),
    ...fields.map(({ 0: found, index }) => [index, index + found.length] as const),
  ].toSorted(([a], [b]) => a - b)
  const starts = parts.map(([from]) => from)
  /** Where all parts up to one end. */
  const ends: number[] = []
  for (const [, to] of parts) ends.push(Math.max(ends.at(-1) ?? 0, to))
  return (at) => at >= (starts[0] ?? at + 1) && at < (ends[findLast(starts, at)] ?? 0)
}
