import { stemmer } from 'stemmer'
import { parseQuery } from './query.ts'
import { eachWord, HAS_UNSPACED, readQueryWords, STOP_WORDS, UNSPACED } from './words.ts'

/** The marks of a query in a text. */
export interface Marks {
  readonly words: ReadonlySet<string>
  readonly stems: ReadonlySet<string>
  /** The first two letters of the stems: words that begin otherwise need no stemming. */
  readonly starts: ReadonlySet<string>
  /** Finds the words of a plain text that may be marked, by how they begin; null when there are none. */
  readonly candidates: RegExp | null
  /** Whether one of the words is of a script without spaces. */
  readonly hasUnspaced: boolean
  /** The last word, which may still be growing: longer words that begin with it are marked too. */
  readonly growing: string | null
}

/** Where pieces of a text begin and end, in UTF-16 units; in their order, none overlapping another. */
export type Ranges = readonly (readonly [start: number, stop: number])[]

/** A text whose marks are looked for. */
export interface ReadableText {
  readonly text: string
  /** Its pieces besides plain words, in their order. */
  readonly others: readonly OtherPiece[]
}

/** A word with foreign letters, a long one, a letter with its sign, or characters of a script without spaces. */
interface OtherPiece {
  readonly start: number
  readonly end: number
  readonly isUnspaced: boolean
}

/** A letter with its sign, or a run of letters and digits, either in scripts without spaces or in others. */
const PIECE = new RegExp(
  `(?<![\\p{L}\\p{N}\\p{M}])[a-z](?:\\+\\+|#)(?![\\p{L}\\p{N}\\p{M}])|(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{Co}])(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}\\p{Co}])*`,
  'giu',
)
const IS_UNSPACED = new RegExp(`^${UNSPACED.source}`, 'u')
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
    // The last letter of a stem may differ from its words: `happi` is the stem of `happy`, and `rate` of `rating`.
    candidates: matchBeginnings([...[...stems].map((stem) => stem.slice(0, Math.max(2, stem.length - 1))), ...words]),
    hasUnspaced: [...words].some((word) => HAS_UNSPACED.test(word)),
    growing: last.length >= MIN_GROWING && words.has(last) ? last : null,
  }
}

/** Finds words that begin with one of some beginnings. */
function matchBeginnings(words: readonly string[]): RegExp | null {
  const plain = [...new Set(words)].filter((start) => IS_PLAIN.test(start))
  const shortest = plain.filter((start) => !plain.some((other) => other !== start && start.startsWith(other)))
  // A lookbehind would double the time: `eachMark` checks what stands before a match.
  return shortest.length === 0 ? null : new RegExp(`(?:${shortest.join('|')})[a-z0-9]*`, 'gi')
}

/** Reads a text once for the marks of any query. */
export function readForMarks(text: string): ReadableText {
  if (isPlain(text)) return { text, others: [] }
  const others: OtherPiece[] = []
  for (const { 0: piece, index: start } of text.matchAll(PIECE)) {
    if (!IS_PLAIN.test(piece)) others.push({ start, end: start + piece.length, isUnspaced: IS_UNSPACED.test(piece) })
  }
  return { text, others }
}

/** Where the marked pieces of a text are. Linear in its length. */
export function findMarks(text: ReadableText, marks: Marks): Ranges {
  const found: [number, number][] = []
  let end = 0
  eachMark(text, marks, (start, stop) => {
    const from = Math.max(start, end)
    if (from >= stop) return false
    const last = found.at(-1)
    // Pairs of an unspaced script overlap.
    if (last && from === end && from > start) last[1] = stop
    else found.push([from, stop])
    end = stop
    return false
  })
  return found
}

/** Where the first marked piece of a text begins; -1 when there is none. Reads no further. */
export function findFirstMark(text: ReadableText, marks: Marks): number {
  let first = -1
  eachMark(text, marks, (start) => {
    first = start
    return true
  })
  return first
}

/** Calls `take` with where each mark begins and ends, in their order, until it returns true. */
function eachMark({ text, others }: ReadableText, marks: Marks, take: (start: number, stop: number) => boolean): void {
  /** Characters and pairs that were looked at: a text repeats them, and reading one takes microseconds. */
  const known = new Map<string, boolean>()
  const isMarkedUnspaced = (piece: string): boolean => {
    const isFound = known.get(piece) ?? readQueryWords(piece, 1).words.some((word) => marks.words.has(word))
    known.set(piece, isFound)
    return isFound
  }
  /** Takes the marked pairs of characters, and marked single ones. True: go no further. */
  const takeUnspaced = (from: number, to: number): boolean => {
    let before = from
    for (const { 0: character, index } of text.slice(from, to).matchAll(UNSPACED)) {
      const start = from + index
      const end = start + character.length
      const isPair = start > before && isMarkedUnspaced(text.slice(before, end))
      if ((isPair || isMarkedUnspaced(character)) && take(isPair ? before : start, end)) return true
      before = start
    }
    return false
  }
  let next = 0
  /** Where the last of the other pieces ends that was looked at. */
  let otherEnd = 0
  /** Takes the marked ones of the other pieces that begin before a place. True: go no further. */
  const takeOthers = (before: number): boolean => {
    for (let other = others[next]; other && other.start < before; other = others[++next]) {
      const { start, end, isUnspaced } = other
      otherEnd = end
      if (isUnspaced ? marks.hasUnspaced && takeUnspaced(start, end) : isMarked(text.slice(start, end), marks) && take(start, end))
        return true
    }
    return false
  }
  for (const { 0: word, index } of marks.candidates ? text.matchAll(marks.candidates) : []) {
    if (index > 0 && isLetterOrDigit(text.charCodeAt(index - 1))) continue
    if (takeOthers(index + word.length)) return
    // A part of another piece is no word.
    if (index >= otherEnd && isWanted(word.toLowerCase(), marks) && take(index, index + word.length)) return
  }
  takeOthers(text.length)
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

/** Whether search would find one of the words that a piece of a script with spaces is read as. */
function isMarked(piece: string, marks: Marks): boolean {
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
