import { type Frontmatter, readFrontmatter, readFrontmatterFields } from '../domain/skills/frontmatter.ts'
import { decodeText, type SkillFile } from '../domain/skills/skill.ts'

/** Kinds of files, for rules. */
type FileKind = 'prompt' | 'markdown' | 'script' | 'text'

const SCRIPT =
  /\.(?:sh|bash|zsh|fish|py|pyw|js|mjs|cjs|jsx|ts|mts|tsx|rb|pl|php|lua|ps1|psm1|bat|cmd|vbs|go|rs|java|kt|swift|r|applescript)$/i
const MARKDOWN = /\.(?:md|mdx|markdown|txt|rst|adoc|html?)$/i

/** Where a line stands. */
const FENCED = 1
const QUOTED = 2
const ABOUT_ATTACKS = 4
const UNSEEN = 8

/** Characters that show nothing, which are passed over when words are looked for. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: characters that join others are among them
  /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]|\u{e0001}|[\u{e0100}-\u{e01ef}]/u
/** Letters of other scripts that look as Latin ones (Unicode, confusables.txt: those of Greek and Cyrillic with the same shape). */
const LOOK_ALIKES = new Map(
  'аaеeоoрpсcхxуyіiјjѕsһhԁdԛqԝwмmтtнhкkвbАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSοoαaνvρpτtυuιiκkΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'
    .match(/../gu)
    ?.map((pair) => [pair[0] ?? '', pair[1] ?? ''] as const),
)
const NOT_PLAIN = /[^\n\r\t\u0020-\u007e]/
/** Tag characters spell ASCII that nobody sees. */
const TAG_FIRST = 0xe0020
const TAG_LAST = 0xe007e

/** Words of texts that are about attacks. */
const ABOUT =
  /\b(?:attack(?:s|er|ers)?|(?:prompt|command|sql|code) injections?|malicious|malware|jailbreaks?|exploits?|vulnerab\w*|red.?flags?|red.?team\w*|anti.?patterns?|phishing|suspicious|unsafe|insecure|never (?:do|use|run|paste|execute)|don'?t (?:do|use|run|paste|execute)|do not (?:use|run|paste|execute) (?:this|these|it|them|such|commands?|the following)|bad example|for example, an? attack)\b/i

/** A frontmatter as rules read it. `tools` null: none declared. */
interface Head extends Frontmatter {
  readonly tools: readonly string[] | null
}

/** Longest frontmatter that is parsed: YAML takes a second for 60 KB. */
const MAX_HEAD = 16 * 1024

function readHead(text: string, length: number): Head {
  if (length > MAX_HEAD)
    return { name: null, description: null, warnings: ['the frontmatter of SKILL.md is too long to be checked'], tools: null }
  const said = readFrontmatterFields(text)?.fields['allowed-tools']
  const tools =
    typeof said === 'string'
      ? said.split(/[,\s]+(?![^(]{0,200}\))/).filter((tool) => tool !== '')
      : Array.isArray(said)
        ? said.filter((tool): tool is string => typeof tool === 'string')
        : null
  return { ...readFrontmatter(text, null), tools }
}

/** A match, and where it stands in the text as it was written. */
interface Hit {
  readonly at: number
  readonly length: number
  readonly match: RegExpExecArray
}

/** A text as rules read it, with its lines, and where they stand. */
export interface FileView {
  readonly name: string
  readonly kind: FileKind
  /** As it was written, `\` before a line end blanked, so that a command is one line. */
  readonly text: string
  /** As a reader sees it: without invisible characters, look-alike letters as Latin ones. The same as `text` for most. */
  readonly plain: string
  /** The lines of `text`. */
  readonly lines: readonly string[]
  /** The end of the frontmatter in `text`; 0 without one. */
  readonly headEnd: number
  /** Line and column in `text`, from 1. */
  placeOf(at: number): { line: number; column: number }
  /** The place in `text` of a place in `plain`. */
  toText(at: number): number
  /** Whether there are no other characters than those of ASCII that show. */
  readonly isPlain: boolean
  /** The frontmatter of SKILL.md. */
  head(): Head
  /** Whether a word of the text may be one of those that a rule needs. */
  mayHold(needs: readonly string[]): boolean
  /** Matches of a global pattern as a reader sees the text: in the lines that hold one of some words, or in all of it. */
  search(pattern: RegExp, needs?: readonly string[] | 'long words'): Iterable<Hit>
  /** Steps by which words at a place weigh less, or more where readers do not see them. */
  shiftOf(at: number, weight: 'words' | 'orders' | 'command'): number
}

/** A file as the check reads it; `isPrompt`: it is text that a person says, and not a file of a skill. */
export interface CheckedFile extends SkillFile {
  readonly isPrompt?: boolean
}

function kindOf(name: string, text: string, isPrompt: boolean): FileKind {
  if (isPrompt) return 'prompt'
  if (SCRIPT.test(name) || text.startsWith('#!')) return 'script'
  return MARKDOWN.test(name) ? 'markdown' : 'text'
}

/** A text as its readers see it, and the place that each of its characters has in the text; null where it is the same. */
function toPlain(text: string): { plain: string; places: Uint32Array } | null {
  if (!NOT_PLAIN.test(text)) return null
  const normal: string[] = []
  const places = new Uint32Array(text.length + 1)
  let length = 0
  let isOther = false
  const put = (letters: string, at: number) => {
    normal.push(letters)
    for (let i = 0; i < letters.length && length < places.length; i++) places[length++] = at
  }
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0
    const width = code > 0xffff ? 2 : 1
    if (code < 0x7f) put(text[at] ?? '', at)
    else if (code >= TAG_FIRST && code <= TAG_LAST) {
      put(String.fromCharCode(code - 0xe0000), at)
      isOther = true
    } else {
      const letter = String.fromCodePoint(code)
      // Styled, full-width and accented forms: compatibility forms of one character that are as long as it.
      const folded = code >= 0xff01 || code > 0xffff ? letter.normalize('NFKC') : letter
      const seen = INVISIBLE.test(letter) ? '' : (LOOK_ALIKES.get(letter) ?? (folded.length <= width ? folded : letter))
      put(seen, at)
      isOther ||= seen !== letter
    }
    at += width
  }
  places[length] = text.length
  return isOther ? { plain: normal.join(''), places } : null
}

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

/** The parts that no reader of the rendered text sees: comments, hidden elements, and the frontmatter but for its description. */
function findUnseen(text: string, headEnd: number): (readonly [from: number, to: number])[] {
  const fields = [
    ...text.slice(0, headEnd).matchAll(/^(?!description\b|name\b)[\w-]{1,60}:[^\n]{0,2000}(?:\n[ \t]+[^\n]{0,2000}){0,200}/gm),
  ]
  const parts: (readonly [from: number, to: number, ...unknown[]])[] = [
    ...findComments(text),
    ...findHiddenElements(text),
    ...fields.map(({ 0: found, index }) => [index, index + found.length] as const),
  ]
  const joined: [from: number, to: number][] = []
  for (const [from, to] of parts.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** Whether a place is in one of some parts, which are in order and apart. */
function isInside(parts: readonly (readonly [from: number, to: number])[], at: number): boolean {
  let low = 0
  let high = parts.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const [from = 0, to = 0] = parts[middle] ?? []
    if (at >= from && at < to) return true
    if (at < from) high = middle - 1
    else low = middle + 1
  }
  return false
}

/** Which lines of a text stand in fences, and which are quoted. */
function markLines(lines: readonly string[], kind: FileKind): Uint8Array {
  const marks = new Uint8Array(lines.length)
  if (kind === 'script') return marks.fill(FENCED)
  let fence = ''
  for (const [at, line] of lines.entries()) {
    const opened = line.includes('```') || line.includes('~~~') ? (/^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '') : ''
    if (opened !== '' && (fence === '' || opened.startsWith(fence))) fence = fence === '' ? opened : ''
    else if (fence === '' && opened === '') {
      if (line.includes('>') && line.trimStart().startsWith('>')) marks[at] = QUOTED
      continue
    }
    marks[at] = FENCED
  }
  return marks
}

/** Adds to the marks of lines which of them are about attacks: those below such a heading, and those near such words. */
function markAbout(lines: readonly string[], marks: Uint8Array): void {
  let isSectionAbout = false
  /** Lines that a remark about attacks still reaches. */
  let reach = 0
  for (const [at, line] of lines.entries()) {
    if (((marks[at] ?? 0) & FENCED) === 0) {
      if (/^\s*#{1,6}\s/.test(line)) isSectionAbout = ABOUT.test(line)
      if (ABOUT.test(line.length > 2000 ? line.slice(0, 2000) : line)) reach = 3
      else if (reach > 0 && line.trim() !== '') reach--
    }
    if (isSectionAbout || reach > 0) marks[at] = (marks[at] ?? 0) | ABOUT_ATTACKS
  }
}

/** A line that begins something of its own: a heading, an item, a table, a fence, a quote, a speaker. */
const OWN_LINE = /^\s{0,8}(?:$|#{1,6}\s|[-*+]\s|\d{1,4}[.)]\s|>|\||```|~~~|<|:::|---|\[?[A-Za-z][\w -]{0,30}\]?:(?:\s|$)|\s{4})/
/** A line after which no prose goes on. */
const ENDS_ALONE = /^\s{0,8}(?:$|#{1,6}\s|\||```|~~~|---|<)|(?: {2}|\\)$/

/** A text whose wrapped lines are one: ends of lines inside a paragraph become spaces, so that places stay. */
function joinWraps(text: string, marks: Uint8Array): string {
  const lines = text.split('\n')
  let joined = lines[0] ?? ''
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const isProse = ((marks[at] ?? 0) & FENCED) === 0 && ((marks[at - 1] ?? 0) & FENCED) === 0
    joined += `${isProse && !OWN_LINE.test(line) && !ENDS_ALONE.test(lines[at - 1] ?? '') ? ' ' : '\n'}${line}`
  }
  return joined
}

/** Letters of a word by which its lines are found. */
const KEY_LENGTH = 4
/** A word as long as the shortest key or token of a service. */
const LONG_WORD = /[\w.+/=:@-]{20}/

/** The lines of a text by the first letters of their words: seven bits for each, packed into a number. */
interface WordIndex {
  /** In lower case. */
  readonly lower: readonly string[]
  /** Where each line begins. */
  readonly starts: readonly number[]
  readonly linesOf: ReadonlyMap<number, readonly number[]>
  /** Lines with a word that may be a key. */
  readonly long: readonly number[]
}

function indexWords(text: string): WordIndex {
  const linesOf = new Map<number, number[]>()
  const starts: number[] = []
  const long: number[] = []
  const lower = text.split('\n')
  let start = 0
  for (const [line, written] of lower.entries()) {
    starts.push(start)
    start += written.length + 1
    if (LONG_WORD.test(written)) long.push(line)
    const low = written.toLowerCase()
    lower[line] = low
    let size = 0
    let key = 0
    for (let at = 0; at <= low.length; at++) {
      const code = at < low.length ? low.charCodeAt(at) : 0
      if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
        if (size < KEY_LENGTH) key = (key << 7) | code
        size++
      } else if (size > 0) {
        if (size > 1) {
          const lines = linesOf.get(key)
          if (!lines) linesOf.set(key, [line])
          else if (lines[lines.length - 1] !== line) lines.push(line)
        }
        size = 0
        key = 0
      }
    }
  }
  return { lower, starts, linesOf, long }
}

interface Need {
  readonly need: string
  /** The first letters of its longest run of letters, as a number. */
  readonly key: number
  /** Whether these letters are the whole of it. */
  readonly isWhole: boolean
}

/** Needed words with the keys of the index. */
const keys = new WeakMap<readonly string[], readonly Need[]>()
function keysOf(needs: readonly string[]): readonly Need[] {
  const known = keys.get(needs)
  if (known) return known
  const longest = (word: string) => (word.match(/[a-z0-9]+/g) ?? []).toSorted((a, b) => b.length - a.length)[0] ?? ''
  const made = needs.map((need) => {
    const first = longest(need).slice(0, KEY_LENGTH)
    return { need, key: [...first].reduce((sum, letter) => (sum << 7) | letter.charCodeAt(0), 0), isWhole: need === first }
  })
  keys.set(needs, made)
  return made
}

const NO_LINES: readonly number[] = []

function linesWith({ lower, linesOf }: WordIndex, needs: readonly string[]): readonly number[] {
  let lines: number[] | null = null
  for (const { need, key, isWhole } of keysOf(needs)) {
    const found = linesOf.get(key)
    if (!found) continue
    lines ??= []
    for (const line of found) if (isWhole || lower[line]?.includes(need)) lines.push(line)
  }
  return lines === null ? NO_LINES : lines.length < 2 ? lines : [...new Set(lines)].sort((a, b) => a - b)
}

function* searchLines({ starts }: WordIndex, lines: readonly number[], text: string, pattern: RegExp): Generator<RegExpExecArray> {
  for (const line of lines) {
    const start = starts[line] ?? 0
    const written = text.slice(start, (starts[line + 1] ?? text.length + 1) - 1)
    // Not matchAll, which makes a copy of the pattern for each line.
    let from = 0
    for (;;) {
      pattern.lastIndex = from
      const match = pattern.exec(written)
      if (!match) break
      from = Math.max(pattern.lastIndex, match.index + 1)
      match.index += start
      yield match
    }
  }
}

/** Least share of characters that show in a text of an older encoding. */
const MIN_SHOWN = 0.9

/** A text of any encoding that programs run: UTF-8, UTF-16 with its mark, and one byte a character. Null for other bytes. */
function readText(bytes: Uint8Array): string | null {
  const decoded = decodeText(bytes)
  if (decoded !== null && !decoded.includes('\0')) return decoded
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const shown = bytes.reduce(
    (count, byte) => count + (byte === 9 || byte === 10 || byte === 13 || (byte >= 0x20 && byte !== 0x7f) ? 1 : 0),
    0,
  )
  if (bytes.length === 0 || shown / bytes.length < MIN_SHOWN || bytes.subarray(0, 4).includes(0)) return null
  return new TextDecoder('windows-1252').decode(bytes).replaceAll('\0', ' ')
}

/** Reads a file for rules; null where it is no text. */
export function viewFile({
  filename,
  bytes,
  isPrompt = false,
}: Pick<SkillFile, 'filename' | 'bytes'> & { readonly isPrompt?: boolean }): FileView | null {
  const decoded = readText(bytes)
  return decoded === null ? null : viewText(filename, decoded, isPrompt)
}

/** Reads a text for rules. Each part of it is made when a rule first asks for it. */
function viewText(name: string, written: string, isPrompt: boolean): FileView {
  const text =
    written.includes('\\\n') || written.includes('\\\r\n') ? written.replace(/\\\r?\n/g, (end) => ' '.repeat(end.length)) : written
  const kind = kindOf(name, text, isPrompt)
  const block = kind === 'markdown' ? /^\uFEFF?---[ \t]*\r?\n[\s\S]{0,65536}?\r?\n---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, 66_000)) : null
  const headEnd = block?.[0].length ?? 0
  const lines = written.split('\n')
  const starts = new Uint32Array(lines.length)
  for (let at = 1; at < lines.length; at++) starts[at] = (starts[at - 1] ?? 0) + (lines[at - 1]?.length ?? 0) + 1
  const lineOf = (at: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }
  const seen = toPlain(text)
  const plain = seen?.plain ?? text
  const toText = (at: number) => (seen ? (seen.places[at] ?? 0) : at)
  let head: Head | null = null
  let words: WordIndex | null = null
  let wrapped = plain
  let marks: Uint8Array | null = null
  let isAboutMarked = false
  let unseen: ReturnType<typeof findUnseen> | null = null
  const index = (): WordIndex => {
    marks ??= markLines(lines, kind)
    wrapped = kind === 'markdown' || kind === 'prompt' ? joinWraps(plain, marks) : plain
    return indexWords(wrapped)
  }
  return {
    name,
    kind,
    text,
    plain,
    isPlain: !NOT_PLAIN.test(text),
    head: () => (head ??= readHead(text, headEnd)),
    lines,
    headEnd,
    placeOf(at) {
      const line = lineOf(at)
      return { line: line + 1, column: at - (starts[line] ?? 0) + 1 }
    },
    mayHold(needs) {
      words ??= index()
      for (const { key } of keysOf(needs)) if (words.linesOf.has(key)) return true
      return false
    },
    *search(pattern, needs) {
      if (needs) words ??= index()
      const found = words && needs ? (needs === 'long words' ? words.long : linesWith(words, needs)) : []
      for (const match of words && needs ? searchLines(words, found, wrapped, pattern) : plain.matchAll(pattern)) {
        if (match[0] !== '') yield { at: toText(match.index), length: toText(match.index + match[0].length) - toText(match.index), match }
      }
    },
    toText,
    shiftOf(at, weight) {
      marks ??= markLines(lines, kind)
      if (!isAboutMarked && kind !== 'script') markAbout(lines, marks)
      isAboutMarked = true
      unseen ??= findUnseen(text, headEnd)
      const mark = (marks[lineOf(at)] ?? 0) | (isInside(unseen, at) ? UNSEEN : 0)
      const about = mark & ABOUT_ATTACKS ? 1 : 0
      const isSaid = weight !== 'words' && kind === 'prompt'
      if (weight === 'command') return isSaid || about ? -1 : 0
      if (mark & UNSEEN) return 1
      const line = lines[lineOf(at)] ?? ''
      const column = at - (starts[lineOf(at)] ?? 0)
      const isInCode = line.length < 5000 && (line.slice(0, column).split('`').length - 1) % 2 === 1
      return isSaid || about || mark & (FENCED | QUOTED) || isInCode ? -1 : 0
    },
  }
}
