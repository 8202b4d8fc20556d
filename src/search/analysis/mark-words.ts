import { stemmer } from 'stemmer'
import { parseQuery } from './query.ts'
import { eachWord, HAS_UNSPACED, readQueryWords, STOP_WORDS, UNSPACED } from './words.ts'

/** The marks of a query in a text. */
export interface Marks {
  readonly words: ReadonlySet<string>
  readonly stems: ReadonlySet<string>
  /** The first two letters of the words and stems: most words of a text begin otherwise, and need no further look. */
  readonly starts: ReadonlySet<string>
  /** The last word, which may still be growing: longer words that begin with it are marked too. */
  readonly growing: string | null
}

/** Where pieces of a text begin and end, in UTF-16 units; in their order, none overlapping another. */
export type Ranges = readonly (readonly [start: number, stop: number])[]

/**
 * A letter with its sign, or a run of letters and digits, either in scripts without spaces or in others. A run of ASCII alone, the most
 * frequent, is tried first: the rest takes twice its time.
 */
const PIECE = new RegExp(
  `[a-z0-9]+(?![+#a-z0-9\\u0080-\\u{10ffff}])|(?<![\\p{L}\\p{N}\\p{M}])[a-z](?:\\+\\+|#)(?![\\p{L}\\p{N}\\p{M}])|(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{Co}])(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}\\p{Co}])*`,
  'giu',
)
const IS_UNSPACED = new RegExp(`^${UNSPACED.source}`, 'u')
/** A word of ASCII is itself; longer ones are cut. */
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
  const starts = new Set([...words, ...stems].map((word) => word.slice(0, 2)))
  return { words, stems, starts, growing: last.length >= MIN_GROWING && words.has(last) ? last : null }
}

/** Where the marked pieces of a text are. Linear in its length. */
export function findMarks(text: string, marks: Marks): Ranges {
  const found: [number, number][] = []
  let end = 0
  for (const [start, stop] of eachMark(text, marks)) {
    const from = Math.max(start, end)
    if (from >= stop) continue
    const last = found.at(-1)
    // Pairs of an unspaced script overlap.
    if (last && from === end && from > start) last[1] = stop
    else found.push([from, stop])
    end = stop
  }
  return found
}

/** Where the first marked piece of a text begins; -1 when there is none. Reads no further. */
export function findFirstMark(text: string, marks: Marks): number {
  const { value } = eachMark(text, marks).next()
  return value?.[0] ?? -1
}

/** Where each mark begins and ends, in their order. */
function* eachMark(text: string, marks: Marks): Generator<readonly [start: number, stop: number], undefined> {
  const hasUnspaced = [...marks.words].some((word) => HAS_UNSPACED.test(word))
  /** Characters and pairs that were looked at: a text repeats them, and reading one takes microseconds. */
  const known = new Map<string, boolean>()
  const isMarkedUnspaced = (piece: string): boolean => {
    const isFound = known.get(piece) ?? readQueryWords(piece, 1).words.some((word) => marks.words.has(word))
    known.set(piece, isFound)
    return isFound
  }
  for (const { 0: piece, index } of text.matchAll(PIECE)) {
    if (!IS_UNSPACED.test(piece)) {
      if (isMarked(piece, marks)) yield [index, index + piece.length]
    } else if (hasUnspaced) {
      // Marked pairs of characters, and marked single ones.
      let before = index
      for (const { 0: character, index: at } of piece.matchAll(UNSPACED)) {
        const start = index + at
        const isPair = start > before && isMarkedUnspaced(text.slice(before, start + character.length))
        if (isPair || isMarkedUnspaced(character)) yield [isPair ? before : start, start + character.length]
        before = start
      }
    }
  }
}

/** Whether search would find one of the words that a piece of a script with spaces is read as. */
function isMarked(piece: string, marks: Marks): boolean {
  if (IS_PLAIN.test(piece)) return isWanted(piece.toLowerCase(), marks)
  let isFound = false
  eachWord(piece, (word) => {
    isFound ||= isWanted(word, marks)
  })
  return isFound
}

function isWanted(word: string, { words, stems, starts, growing }: Marks): boolean {
  if (!starts.has(word.slice(0, 2))) return false
  return words.has(word) || (growing !== null && word.startsWith(growing)) || stems.has(stemmer(word))
}
