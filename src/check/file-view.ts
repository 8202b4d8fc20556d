import { type Frontmatter, readFrontmatter, readFrontmatterFields } from '../domain/skills/frontmatter.ts'
import type { SkillFile } from '../domain/skills/skill.ts'
import { findUnseen } from './hidden-parts.ts'
import { ABOUT_ATTACKS, FENCED, joinWraps, markAbout, markLines, QUOTED } from './line-marks.ts'
import { isPlain, readText, toPlain } from './plain-text.ts'
import { findLast, indexWords, type Line, type WordIndex } from './word-index.ts'

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
