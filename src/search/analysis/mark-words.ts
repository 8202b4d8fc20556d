import { stemmer } from 'stemmer'
import { parseQuery } from './query.ts'
import { eachWord, readQueryWords, STOP_WORDS, UNSPACED } from './words.ts'

/** What of a text a query marks. */
export interface Marks {
  readonly words: ReadonlySet<string>
  readonly stems: ReadonlySet<string>
  /** The first two letters of the stems: words that begin otherwise need no stemming. */
  readonly starts: ReadonlySet<string>
  /** Finds the words of a plain text that may be marked, by how they begin; null when there are none. */
  readonly candidates: RegExp | null
  /** The last word, which may still be growing: longer words that begin with it are marked too. */
  readonly growing: string | null
}

/** Part of a text: as it is, or to be marked. */
export type MarkedPiece = string | { readonly marked: string }

/** A letter with its sign, a run of letters and digits in a script with spaces, or a character of one without. */
const PIECE = new RegExp(
  `(?<![\\p{L}\\p{N}\\p{M}])[a-z](?:\\+\\+|#)(?![\\p{L}\\p{N}\\p{M}])|${UNSPACED.source}|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{Co}])(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}\\p{Co}])*`,
  'giu',
)
const IS_UNSPACED = new RegExp(`^${UNSPACED.source}$`, 'u')
const BEYOND_ASCII = /[^\0-\x7f]/
/** Letters and digits beyond ASCII. */
const FOREIGN = /[[\p{L}\p{N}\p{M}\p{Co}]--\p{ASCII}]/v
/** A letter with its sign. */
const SIGNED = /[A-Za-z](?:\+\+|#)/
/** Longer words are cut. */
const MAX_PLAIN = 48
const IS_PLAIN = new RegExp(`^[a-z0-9]{1,${MAX_PLAIN}}$`, 'i')
/** A shorter word is not completed. */
const MIN_GROWING = 2

/** Reads what a query marks: its words as search reads them, their forms, and neighbours written as one word. Null: nothing. */
export function readMarks(query: string): Marks | null {
  const parsed = parseQuery(query)
  if (!parsed || parsed.words.length === 0) return null
  const meaningful = parsed.words.filter((word) => !STOP_WORDS.has(word))
  const words = new Set(meaningful.length > 0 ? meaningful : parsed.words)
  const stems = new Set([...words].map(stemmer))
  for (const [place, word] of parsed.words.entries()) {
    const next = parsed.words[place + 1]
    if (next !== undefined) words.add(word + next)
  }
  const last = parsed.isLastGrowing ? (parsed.words.at(-1) ?? '') : ''
  const starts = new Set([...stems].map((stem) => stem.slice(0, 2)))
  return {
    words,
    stems,
    starts,
    candidates: findBeginnings([...starts, ...words]),
    growing: last.length >= MIN_GROWING && words.has(last) ? last : null,
  }
}

function findBeginnings(words: readonly string[]): RegExp | null {
  const beginnings = new Set(words.map((word) => word.slice(0, 2)).filter((start) => IS_PLAIN.test(start)))
  return beginnings.size === 0 ? null : new RegExp(`(?<![a-z0-9])(?:${[...beginnings].join('|')})[a-z0-9]*`, 'gi')
}

/**
 * Cuts a text into marked and other pieces, which together are the text. Linear in its length.
 * @example markWords('Reviewing code', marks of 'review') // [{marked: 'Reviewing'}, ' code']
 */
export function markWords(text: string, marks: Marks): MarkedPiece[] {
  const pieces: MarkedPiece[] = []
  let end = 0
  eachMark(text, marks, (start, stop) => {
    const from = Math.max(start, end)
    if (from >= stop) return false
    if (from > end) pieces.push(text.slice(end, from))
    const last = pieces.at(-1)
    // Pairs of an unspaced script overlap.
    if (from === end && from > start && typeof last === 'object')
      pieces[pieces.length - 1] = { marked: last.marked + text.slice(from, stop) }
    else pieces.push({ marked: text.slice(from, stop) })
    end = stop
    return false
  })
  if (end < text.length) pieces.push(text.slice(end))
  return pieces
}

/** Where the first marked piece of a text begins; -1 when there is none. Reads no further. */
export function findFirstMark(text: string, marks: Marks): number {
  let first = -1
  eachMark(text, marks, (start) => {
    first = start
    return true
  })
  return first
}

/** Calls `take` with where each mark begins and ends, in their order, until it returns true. */
function eachMark(text: string, marks: Marks, take: (start: number, stop: number) => boolean): void {
  if (isPlain(text)) {
    for (const { 0: word, index } of marks.candidates ? text.matchAll(marks.candidates) : []) {
      if (isWanted(word.toLowerCase(), marks) && take(index, index + word.length)) return
    }
    return
  }
  let previous: { readonly character: string; readonly at: number } | null = null
  for (const match of text.matchAll(PIECE)) {
    const [piece] = match
    const stop = match.index + piece.length
    let start = isMarked(piece, marks) ? match.index : -1
    if (IS_UNSPACED.test(piece)) {
      const isPair = previous !== null && previous.at + previous.character.length === match.index
      if (previous && isPair && isMarked(previous.character + piece, marks)) start = previous.at
      previous = { character: piece, at: match.index }
    }
    if (start !== -1 && take(start, stop)) return
  }
}

/** Whether a text holds plain words alone: finding those is several times as fast. */
function isPlain(text: string): boolean {
  return !SIGNED.test(text) && !(BEYOND_ASCII.test(text) && FOREIGN.test(text)) && !hasLongWord(text)
}

/** Looks where a long word would end, and from there back to where the word begins: at about one character in ten. */
function hasLongWord(text: string): boolean {
  for (let end = MAX_PLAIN; end < text.length; ) {
    let start = end
    while (start >= end - MAX_PLAIN && isLetterOrDigit(text.charCodeAt(start))) start--
    if (start < end - MAX_PLAIN) return true
    end = start + 1 + MAX_PLAIN
  }
  return false
}

/** Whether a UTF-16 unit is a letter or digit of ASCII. */
function isLetterOrDigit(code: number): boolean {
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39)
}

/** Whether search would find one of the words of a piece. */
function isMarked(piece: string, marks: Marks): boolean {
  if (IS_PLAIN.test(piece)) return isWanted(piece.toLowerCase(), marks)
  if (IS_UNSPACED.test(piece)) return readQueryWords(piece, 1).words.some((word) => marks.words.has(word))
  let isFound = false
  eachWord(piece, (word) => {
    isFound ||= isWanted(word, marks)
  })
  return isFound
}

function isWanted(word: string, { words, stems, starts, growing }: Marks): boolean {
  if (words.has(word) || (growing !== null && word.startsWith(growing))) return true
  return starts.has(word.slice(0, 2)) && stems.has(stemmer(word))
}
