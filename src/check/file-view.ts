import { type Frontmatter, readFrontmatter, readFrontmatterFields } from '../domain/skills/frontmatter.ts'
import { decodeText, type SkillFile } from '../domain/skills/skill.ts'
import { findLast, indexWords, type Line, type WordIndex } from './word-index.ts'

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
function findUnseen(text: string, headEnd: number): (at: number) => boolean {
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

/** Where a line stands: in a fence or a script, in a quote, or near words about attacks. */
const FENCED = 1
const QUOTED = 2
const ABOUT_ATTACKS = 4

/** Words of texts that are about attacks. */
const ABOUT =
  /\b(?:attack(?:s|er|ers)?|(?:prompt|command|sql|code) injections?|malicious|malware|jailbreaks?|exploits?|vulnerab\w*|red.?flags?|red.?team\w*|anti.?patterns?|phishing|suspicious|unsafe|insecure|never (?:do|use|run|paste|execute)|don'?t (?:do|use|run|paste|execute)|do not (?:use|run|paste|execute) (?:this|these|it|them|such|commands?|the following)|bad example|for example, an? attack)\b/i

/** Which lines of a text stand in fences, and which are quoted. */
function markLines(lines: readonly string[]): Uint8Array {
  const marks = new Uint8Array(lines.length)
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

/** Characters that show nothing, which are passed over when words are looked for, as a class of a pattern. */
export const INVISIBLE =
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
const SHOWS_NOTHING = new RegExp(`[${INVISIBLE}]|\\u{e0001}|[\\u{e0100}-\\u{e01ef}]`, 'u')
/** Letters of other scripts that look as Latin ones (Unicode, confusables.txt: those of Greek and Cyrillic with the same shape). */
const LOOK_ALIKES = new Map(
  'аaеeоoрpсcхxуyіiјjѕsһhԁdԛqԝwмmтtнhкkвbАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSοoαaνvρpτtυuιiκkΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'
    .match(/../gu)
    ?.map((pair) => [pair[0] ?? '', pair[1] ?? ''] as const),
)
/** Characters that do not show as what they are: those above, controls, pairs of surrogates, and compatibility forms. */
const UNUSUAL = new RegExp(
  `[\\ud800-\\udbff][\\udc00-\\udfff]|[\\u0001-\\u0008\\u000b\\u000e-\\u001f\\u007f\\u0085\\u2028\\u2029${INVISIBLE}${[...LOOK_ALIKES.keys()].join('')}\\uff01-\\uffff]|\\r(?!\\n)`,
  'g',
)
/** Tag characters spell ASCII that nobody sees. */
const TAG_FIRST = 0xe0020
const TAG_LAST = 0xe007e

/** Whether each character of a text shows as what it is. */
function isPlain(text: string): boolean {
  return text.search(UNUSUAL) < 0
}

/** A character as readers see it. */
function show(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code >= TAG_FIRST && code <= TAG_LAST) return String.fromCharCode(code - 0xe0000)
  if (SHOWS_NOTHING.test(character)) return ''
  // Styled, full-width and accented forms: compatibility forms of one character that are as long as it.
  const folded = code >= 0xff01 ? character.normalize('NFKC') : character
  return LOOK_ALIKES.get(character) ?? (folded.length <= character.length ? folded : character)
}

/** A text as its readers see it, and the place that each of its characters has in the text; null where it is the same. */
function toPlain(text: string): { plain: string; places: Uint32Array } | null {
  const others = text
    .matchAll(UNUSUAL)
    .map(({ 0: character, index }) => ({ character, index, shown: show(character) }))
    .filter(({ character, shown }) => shown !== character)
    .toArray()
  if (others.length === 0) return null
  const places = new Uint32Array(text.length + 1)
  const parts: string[] = []
  let [length, end] = [0, 0]
  for (const { character, index, shown } of [...others, { character: '', index: text.length, shown: '' }]) {
    parts.push(text.slice(end, index), shown)
    for (let at = end; at < index; at++) places[length++] = at
    for (let letter = 0; letter < shown.length; letter++) places[length++] = index
    end = index + character.length
  }
  places[length] = text.length
  return { plain: parts.join(''), places }
}

/** Kinds of files, for rules. */
type FileKind = 'prompt' | 'markdown' | 'script' | 'text'

const SCRIPT =
  /\.(?:sh|bash|zsh|fish|py|pyw|js|mjs|cjs|jsx|ts|mts|tsx|rb|pl|php|lua|ps1|psm1|bat|cmd|vbs|go|rs|java|kt|swift|r|applescript)$/i
const MARKDOWN = /\.(?:md|mdx|markdown|txt|rst|adoc|html?)$/i

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

/**
 * The text that a pattern is tried on: `lines`, each as a reader sees it; `text`, as a reader sees it, with matches across lines; `written`,
 * where a character does not show as what it is.
 */
export type SearchedText = 'lines' | 'text' | 'written'

/** A text as rules read it, with its lines, and where they stand. */
export interface FileView {
  readonly name: string
  readonly kind: FileKind
  /** As it was written, `\` before a line end blanked, so that a command is one line. */
  readonly text: string
  /** The lines of `text`. */
  readonly lines: readonly string[]
  /** The end of the frontmatter in `text`; 0 without one. */
  readonly headEnd: number
  /** Line and column in `text`, from 1. */
  placeOf(at: number): { line: number; column: number }
  /** Whether each character shows as what it is. */
  readonly isPlain: boolean
  /** The frontmatter of SKILL.md. */
  head(): Head
  /** Lines in which a pattern may match, as a reader sees them: invisible characters left out, wrapped lines of prose joined. */
  linesFor(pattern: RegExp): Iterable<Line>
  /** Matches of a global pattern. */
  search(pattern: RegExp, on?: SearchedText): Generator<Hit>
  /** Whether a global pattern matches in a line. Kept: it may be asked for each match of another. */
  holds(pattern: RegExp): boolean
  /** A part of what {@link linesFor} gives, in `text`. */
  toPlace(at: number, length: number): { at: number; length: number }
  /** Steps by which words at a place weigh less, or more where readers do not see them. */
  shiftOf(at: number, weight: 'words' | 'orders' | 'command'): number
}

/** A file as the check reads it; `isPrompt`: it is text that a person says, and not a file of a skill. */
export interface CheckedFile extends Pick<SkillFile, 'filename' | 'bytes'> {
  readonly isPrompt?: boolean
}

function kindOf(name: string, text: string, isPrompt: boolean): FileKind {
  if (isPrompt) return 'prompt'
  if (SCRIPT.test(name) || text.startsWith('#!')) return 'script'
  return MARKDOWN.test(name) ? 'markdown' : 'text'
}

/** Reads a file for rules; null where it is no text. Each part of it is made when a rule first asks for it. */
export function viewFile({ filename: name, bytes, isPrompt = false }: CheckedFile): FileView | null {
  const written = readText(bytes)
  if (written === null) return null
  const isContinued = written.includes('\\\n') || written.includes('\\\r\n')
  const text = isContinued ? written.replace(/\\\r?\n/g, (end) => ' '.repeat(end.length)) : written
  const kind = kindOf(name, text, isPrompt)
  const block = kind === 'markdown' ? /^\uFEFF?---[ \t]*\r?\n[\s\S]{0,65536}?\r?\n---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, 66_000)) : null
  const headEnd = block?.[0].length ?? 0
  const lines = written.split('\n')
  const starts = new Uint32Array(lines.length)
  for (let at = 1; at < lines.length; at++) starts[at] = (starts[at - 1] ?? 0) + (lines[at - 1]?.length ?? 0) + 1
  const isUsual = isPlain(text)
  const seen = isUsual ? null : toPlain(text)
  const plain = seen?.plain ?? text
  const toText = (at: number) => (seen ? (seen.places[at] ?? 0) : at)
  let head: Head | null = null
  let words: WordIndex | null = null
  let marks: Uint8Array | null = null
  let isAboutMarked = false
  let isUnseen: ((at: number) => boolean) | null = null
  const readMarks = () => (marks ??= kind === 'script' ? new Uint8Array(lines.length).fill(FENCED) : markLines(lines))
  const index = () => (words ??= indexWords(kind === 'markdown' || kind === 'prompt' ? joinWraps(plain, readMarks()) : plain))
  const held = new Map<RegExp, boolean>()
  const toPlace = (at: number, length: number) => ({ at: toText(at), length: toText(at + length) - toText(at) })
  return {
    name,
    kind,
    text,
    isPlain: isUsual,
    head: () => (head ??= readHead(text, headEnd)),
    lines,
    headEnd,
    placeOf(at) {
      const line = findLast(starts, at)
      return { line: line + 1, column: at - (starts[line] ?? 0) + 1 }
    },
    linesFor: (pattern) => index().linesFor(pattern),
    holds(pattern) {
      const known = held.get(pattern) ?? !this.search(pattern).next().done
      held.set(pattern, known)
      return known
    },
    *search(pattern, on = 'lines') {
      if (on === 'written') {
        if (!isUsual) for (const match of text.matchAll(pattern)) yield { at: match.index, length: match[0].length, match }
      } else if (on === 'text') {
        if (index().mayMatch(pattern))
          for (const match of plain.matchAll(pattern)) yield { ...toPlace(match.index, match[0].length), match }
      } else
        for (const { at, text: line } of index().linesFor(pattern)) {
          // Not matchAll, which makes a copy of the pattern for each line.
          pattern.lastIndex = 0
          for (let match = pattern.exec(line); match; match = pattern.exec(line)) {
            const from = Math.max(pattern.lastIndex, match.index + 1)
            yield { ...toPlace(at + match.index, match[0].length), match }
            pattern.lastIndex = from
          }
        }
    },
    toPlace,
    shiftOf(at, weight) {
      const known = readMarks()
      if (!isAboutMarked && kind !== 'script') markAbout(lines, known)
      isAboutMarked = true
      const number = findLast(starts, at)
      const mark = known[number] ?? 0
      const isLess = (weight !== 'words' && kind === 'prompt') || (mark & ABOUT_ATTACKS) !== 0
      if (weight === 'command') return isLess ? -1 : 0
      isUnseen ??= findUnseen(text, headEnd)
      if (isUnseen(at)) return 1
      const line = lines[number] ?? ''
      const isInCode = line.length < 5000 && (line.slice(0, at - (starts[number] ?? 0)).split('`').length - 1) % 2 === 1
      return isLess || mark & (FENCED | QUOTED) || isInCode ? -1 : 0
    },
  }
}

/** A text from a place on, to the end of so many lines. */
export function linesFrom({ text }: FileView, at: number, count: number): string {
  return text
    .slice(at, at + 1000)
    .split('\n', count)
    .join('\n')
}
