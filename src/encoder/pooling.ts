import type { ItemText } from '../domain/ports/encoder.ts'
import type { WordPieces } from './word-pieces.ts'

/** Raised when the same weights give items other vectors: a part of the model's name. */
export const POOLING = 1
/** Numbers in a vector. */
export const DIMENSIONS = 384
/** Tokens of a window, without the two that enclose it. */
export const WINDOW_TOKENS = 126
/** Tokens of a query that count: beyond, its meaning hardly changes, but its time grows. */
export const QUERY_TOKENS = 62
const MAX_WINDOWS = 3
/** Tokens of a title that count, so that it leaves room for the text. */
const TITLE_TOKENS = 32
/** The length that is looked at, in UTF-16 units: more than windows of prose need, and little enough to be copied to a thread. */
const MAX_LENGTH = { title: 1_000, text: 32_000, query: 2_000 }
const CLASSIFY = 101
const SEPARATE = 102
const MAX_INTEGER = 127

/** The part of an item that its vector depends on. */
export function shortenItem({ title, text }: ItemText): ItemText {
  return { title: title.slice(0, MAX_LENGTH.title), text: text.slice(0, MAX_LENGTH.text) }
}

/** The part of a query that its vector depends on. */
export function shortenQuery(text: string): string {
  return text.slice(0, MAX_LENGTH.query)
}

/** Encloses tokens as the model was trained with. */
export function enclose(ids: readonly number[]): number[] {
  return [CLASSIFY, ...ids, SEPARATE]
}

/** The windows of an item, one to three: tokens of the title, then of the next part of the text. */
export function planWindows(pieces: WordPieces, item: ItemText): readonly number[][] {
  const { title, text } = shortenItem(item)
  const titleIds = pieces.cut(title, TITLE_TOKENS).ids
  const size = WINDOW_TOKENS - titleIds.length
  const { ids } = pieces.cut(text, MAX_WINDOWS * size)
  const count = Math.max(1, Math.ceil(ids.length / size))
  return Array.from({ length: count }, (_, window) => enclose([...titleIds, ...ids.slice(window * size, (window + 1) * size)]))
}

/**
 * An item's vector from those of its windows: the first plus the mean of all, weighted by their tokens. The first says what the item is about.
 * @param vectors of unit length
 * @param tokens of each window
 * @returns integers from -127 to 127, the largest of which is 127 or -127
 */
export function poolWindows(vectors: readonly Float32Array[], tokens: readonly number[]): Int8Array {
  const all = tokens.reduce((sum, count) => sum + count, 0)
  const pooled = new Float64Array(DIMENSIONS)
  for (const [window, vector] of vectors.entries()) {
    const weight = (window === 0 ? 1 : 0) + (tokens[window] ?? 0) / all
    for (const [place, value] of vector.entries()) pooled[place] = (pooled[place] ?? 0) + weight * value
  }
  const largest = pooled.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
  return Int8Array.from(pooled, (value) => Math.round((value / largest) * MAX_INTEGER))
}
