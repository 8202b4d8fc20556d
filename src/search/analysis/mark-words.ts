import { stemmer } from 'stemmer'
import { parseQuery } from './query.ts'
import { eachWord, readQueryWords, STOP_WORDS, UNSPACED } from './words.ts'

/** What of a text a query marks. */
export interface Marks {
  readonly words: ReadonlySet<string>
  readonly stems: ReadonlySet<string>
  /** The first two letters of the stems: words that begin otherwise need no stemming. */
  readonly starts: ReadonlySet<string>
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
const IS_PLAIN = /^[a-z0-9]{1,48}$/i
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
  return {
    words,
    stems,
    starts: new Set([...stems].map((stem) => stem.slice(0, 2))),
    growing: last.length >= MIN_GROWING && words.has(last) ? last : null,
  }
}

/**
 * Cuts a text into marked and other pieces, which together are the text. Linear in its length.
 * @example markWords('Reviewing code', marks of 'review') // [{marked: 'Reviewing'}, ' code']
 */
export function markWords(text: string, marks: Marks): MarkedPiece[] {
  const pieces: MarkedPiece[] = []
  let end = 0
  const mark = (start: number, stop: number) => {
    const from = Math.max(start, end)
    if (from >= stop) return
    if (from > end) pieces.push(text.slice(end, from))
    const last = pieces.at(-1)
    // Pairs of an unspaced script overlap.
    if (from === end && from > start && typeof last === 'object')
      pieces[pieces.length - 1] = { marked: last.marked + text.slice(from, stop) }
    else pieces.push({ marked: text.slice(from, stop) })
    end = stop
  }
  let previous: { readonly character: string; readonly at: number } | null = null
  for (const match of text.matchAll(PIECE)) {
    const [piece] = match
    const stop = match.index + piece.length
    if (IS_UNSPACED.test(piece)) {
      const isPair = previous !== null && previous.at + previous.character.length === match.index
      if (previous && isPair && isMarked(previous.character + piece, marks)) mark(previous.at, stop)
      else if (isMarked(piece, marks)) mark(match.index, stop)
      previous = { character: piece, at: match.index }
    } else if (isMarked(piece, marks)) mark(match.index, stop)
  }
  if (end < text.length) pieces.push(text.slice(end))
  return pieces
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
