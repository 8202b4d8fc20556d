import { addLetter, KEY_LENGTH, type NeededWord, NO_KEY, neededWords } from './needed-words.ts'

/** A line of a text, without its end. */
export interface Line {
  readonly at: number
  readonly text: string
}

/** The lines of a text by the words in them. */
export interface WordIndex {
  /** Lines in which a pattern may match, by the words that it needs; all of the text at once where no word is sure. */
  linesFor(pattern: RegExp): Iterable<Line>
  /** Whether a pattern may match, in a line or across lines. */
  mayMatch(pattern: RegExp): boolean
}

/** Room for marks of three characters in a row, of which each keeps five bits. */
const THREES = 1 << 15
const addCharacter = (three: number, code: number) => ((three << 5) | (code & 31)) & (THREES - 1)

/** Indexes the lines of a text by the first letters of their words. */
export function indexWords(text: string): WordIndex {
  const lowered = text.toLowerCase()
  // A few letters are longer in lower case, and places are to be the same.
  const lower = lowered.length === text.length ? lowered : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const starts = [0]
  const linesOf = new Map<number, number[]>()
  const threes = new Uint8Array(THREES)
  let [size, key, last] = [0, 0, 0]
  for (let at = 0; at <= lower.length; at++) {
    const code = at < lower.length ? lower.charCodeAt(at) : 0
    last = addCharacter(last, code)
    threes[last] = 1
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
      if (size < KEY_LENGTH) key = addLetter(key, code)
      size++
      continue
    }
    if (size > 1) {
      const line = starts.length - 1
      const lines = linesOf.get(key)
      if (!lines) linesOf.set(key, [line])
      else if (lines[lines.length - 1] !== line) lines.push(line)
    }
    if (size > 0) [size, key] = [0, 0]
    if (code === 10) starts.push(at + 1)
  }
  const sliceLine = (written: string, line: number) => written.slice(starts[line] ?? 0, (starts[line + 1] ?? written.length + 1) - 1)
  /** Whether a text may be there. False, without a search, for most that are not. */
  const mayHold = (needed: string): boolean => {
    let three = 0
    for (let at = 0; at < needed.length; at++) {
      three = addCharacter(three, needed.charCodeAt(at))
      if (at > 1 && threes[three] === 0) return false
    }
    return true
  }
  /** Lines with a text that may stand inside a word. */
  function* linesWith(needed: string): Generator<number> {
    for (let at = lower.indexOf(needed); at >= 0; ) {
      const line = findLast(starts, at)
      yield line
      const next = starts[line + 1]
      at = next === undefined ? -1 : lower.indexOf(needed, next)
    }
  }
  const findLines = (needed: readonly NeededWord[]): readonly number[] => {
    const lines: number[] = []
    for (const { key, text: word, isWhole } of needed) {
      const lineNumbers = key === NO_KEY ? null : linesOf.get(key)
      if (lineNumbers === undefined || !mayHold(word)) continue
      for (const line of lineNumbers ?? linesWith(word))
        if (lineNumbers === null || isWhole || sliceLine(lower, line).includes(word)) lines.push(line)
    }
    return lines.length < 2 ? lines : [...new Set(lines)].sort((a, b) => a - b)
  }
  return {
    *linesFor(pattern) {
      const needed = neededWords(pattern)
      if (!needed) yield { at: 0, text }
      else for (const line of findLines(needed)) yield { at: starts[line] ?? 0, text: sliceLine(text, line) }
    },
    mayMatch(pattern) {
      const needed = neededWords(pattern)
      return !needed || needed.some(({ key, text: word }) => mayHold(word) && (key === NO_KEY ? lower.includes(word) : linesOf.has(key)))
    },
  }
}

/** Finds the last place among rising numbers whose number is not above a value; 0 before them. */
export function findLast(rising: ArrayLike<number>, value: number): number {
  let [low, high] = [0, rising.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((rising[middle] ?? 0) <= value) low = middle
    else high = middle - 1
  }
  return low
}
