/** Letters of a word by which its lines are found. */
const KEY_LENGTH = 4
/** The key of what is no word. */
const NO_KEY = 0
/** Alternatives that are followed together, and characters of a class. */
const MAX_TEXTS = 24
const MAX_CLASS = 5

/** Marks in texts that a pattern matches: anything or nothing, a place where no word goes on, and characters that are in no word. */
const GAP = '\ue000'
const EDGE = '\ue001'
const BREAK = '\ue002'

/** A word that a match of a pattern holds. Words are runs of two or more letters and digits of ASCII. */
export interface NeededWord {
  /** The word with the characters known around it, in lower case. */
  readonly text: string
  /** The first letters of the word as a number, by {@link addLetter}; {@link NO_KEY} where the text may stand inside a word. */
  readonly key: number
  /** Whether these letters are all of `text`. */
  readonly isWhole: boolean
}

/** Adds the code of a character of ASCII to a number for those before it; there is room for four. */
const addLetter = (key: number, code: number) => (key << 7) | code

const WORD = /[a-z0-9]+/g

/**
 * Picks the word by which lines with a text are found: the longest one with a known beginning, and a known end if it is short; else the
 * longest run of known characters. Null for neither.
 */
function pickWord(text: string): NeededWord | null {
  let [word, around, longest] = ['', '', '']
  for (const run of text.replaceAll(BREAK, `${EDGE}${GAP}${EDGE}`).split(GAP)) {
    const known = run.replaceAll(EDGE, '')
    if (known.length > longest.length) longest = known
    for (let match = WORD.exec(run); match; match = WORD.exec(run)) {
      const [found] = match
      // Words are apart, so that any character before or behind one is in no word.
      const isFound = match.index > 0 && found.length > 1 && (found.length >= KEY_LENGTH || WORD.lastIndex < run.length)
      if (isFound && found.length > word.length) [word, around] = [found, known]
    }
  }
  const first = word.slice(0, KEY_LENGTH)
  const key = [...first].reduce((sum, letter) => addLetter(sum, letter.charCodeAt(0)), 0)
  if (word !== '') return { text: around, key, isWhole: around === first }
  return longest.length > 1 ? { text: longest, key: NO_KEY, isWhole: false } : null
}

/** How few lines texts are found in, by the shortest of their words. */
const rarityOf = (texts: readonly string[]) =>
  Math.min(...texts.map(pickWord).map((one) => (one === null ? 0 : one.key === NO_KEY ? 1 : one.text.length)))

/** Texts followed by others. Where these are too many, the rarer ones stay, and whether a word may go on beside them. */
function join(before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.length * after.length <= MAX_TEXTS) return [...new Set(before.flatMap((a) => after.map((b) => a + b)))]
  const isClosed = before.every((text) => /[^a-z0-9\ue000]$/.test(text))
  const rest = after.map((text) => (isClosed ? EDGE : GAP) + text)
  if (rarityOf(before.map((text) => text + EDGE)) < rarityOf(rest.map((text) => text + EDGE))) return rest
  const end = rest.every((text) => /[^a-z0-9\ue000]$/.test(text)) ? GAP + EDGE : GAP
  return before.map((text) => text + end)
}

/** The characters of ASCII that stand in texts, and one that is none of them and in no word. */
const CHARACTERS = [...Array.from({ length: 118 }, (_, at) => String.fromCharCode(at + 9)), '—']
const read = new Map<string, readonly string[]>()

/** The characters that a class of a pattern matches. */
function readCharacters(written: string, flags: string): readonly string[] {
  const key = `${flags} ${written}`
  const known = read.get(key)
  if (known) return known
  const form = new RegExp(`^${written}$`, flags.replace(/[gm]/g, ''))
  const found = [...new Set(CHARACTERS.filter((one) => form.test(one)).map((one) => one.toLowerCase()))]
  const isInWord = found.some((one) => /[a-z0-9]/.test(one))
  const isListed = found.length === 1 || (isInWord && found.length <= MAX_CLASS)
  const texts = isListed ? found : [isInWord ? GAP : BREAK]
  read.set(key, texts)
  return texts
}

/** The parts of a pattern: literal characters, ends of groups, bars, quantifiers, assertions, escapes, and classes. */
const PARTS =
  /[\w ]+(?=[^*+?{]|$)|\((?:\?(?:[:=!]|<[=!]))?|[)|^$]|(?:[*+?]|\{\d+(?:,\d*)?\})\??|\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:p\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[\s\S])|[\s\S]/gu

/** Texts of which each match of a pattern is one. Back references and named groups are not known. */
function readTexts({ source, flags }: RegExp): readonly string[] {
  const parts = source.match(PARTS) ?? []
  let at = 0
  const readGroup = (): readonly string[] => {
    const found = [...readRow()]
    while (parts[at] === '|') {
      at++
      found.push(...readRow())
    }
    at++
    return [...new Set(found)]
  }
  const readRow = (): readonly string[] => {
    const blocks: (readonly string[])[] = [['']]
    while (at < parts.length && parts[at] !== '|' && parts[at] !== ')') {
      const texts = readRepeated()
      const last = blocks.at(-1) ?? ['']
      // What is always there belongs to what it closes.
      if (texts.length === 1 || (blocks.length === 1 && last.length === 1)) blocks[blocks.length - 1] = join(last, texts)
      else blocks.push(texts)
    }
    return blocks.reduce(join)
  }
  const readRepeated = (): readonly string[] => {
    const once = readOne()
    const [quantifier, isOptional] = /^(?:([*?]|\{0)|\+|\{\d)/.exec(parts[at] ?? '') ?? []
    if (quantifier === undefined) return once
    const isOnce = /^(?:\?|\{[01](?:,1)?\})/.test(parts[at++] ?? '')
    // The first and the last time are followed.
    const isSame = isOnce || (once.length === 1 && (once[0] === BREAK || once[0] === GAP))
    const texts = isSame ? once : once.map((text) => `${text}${GAP}${text}`)
    if (isOptional === undefined) return texts
    return texts.length > MAX_CLASS || once[0] === GAP ? [GAP] : ['', ...texts]
  }
  const readOne = (): readonly string[] => {
    const part = parts[at++] ?? ''
    const [form = '', end] = parts.slice(at, at + 2)
    if (part === '^' || part === '$' || part === '\\b') return [EDGE]
    if (part === '\\B') return ['']
    if (/^(?:[^(.[\\]|\\\W$)/u.test(part)) return [part.replace('\\', '').toLowerCase()]
    if (!part.startsWith('(')) return readCharacters(part, flags)
    const texts = readGroup()
    if (part === '(' || part === '(?:') return texts
    // An assertion tells whether a word goes on.
    const isClosed = part.endsWith('!')
      ? /^(?:\\w|\[(?!\^).*\\w)/.test(form) && (end === ')' || end === '|')
      : texts.every((text) => (part === '(?=' ? /^[^a-z0-9\ue000]/ : /[^a-z0-9\ue000]$/).test(text))
    return [isClosed ? EDGE : '']
  }
  return readGroup()
}

const needed = new WeakMap<RegExp, readonly NeededWord[] | null>()

/**
 * Lists the words of which each match of a pattern in a line holds one; null where no word is sure.
 * @see https://swtch.com/~rsc/regexp/regexp4.html, which does the same for trigrams
 */
export function neededWords(pattern: RegExp): readonly NeededWord[] | null {
  const known = needed.get(pattern)
  if (known !== undefined) return known
  const found = readTexts(pattern).map(pickWord)
  const least: NeededWord[] = []
  for (const one of found.filter((word) => word !== null).sort((a, b) => a.text.length - b.text.length))
    if (!least.some(({ key, text }) => key === one.key && one.text.includes(text))) least.push(one)
  const words = found.includes(null) ? null : least
  needed.set(pattern, words)
  return words
}

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
