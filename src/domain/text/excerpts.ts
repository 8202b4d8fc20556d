import { parseVariables } from '../variables/variables.ts'
import { cutAtWord, cutCharacters } from './characters.ts'

/** A piece of a prompt's first words: text, or the name of a blank. */
export type FirstWord = { readonly text: string } | { readonly blank: string }

/** The excerpt of a prompt's text in a list. */
export interface FirstWords {
  readonly pieces: readonly FirstWord[]
  /** Distinct variables in the text. */
  readonly blanks: number
  /** Whether more of the text would be shown if there were room. */
  readonly isCut: boolean
}

/** Length of what is shown, in characters, blanks counted as one. */
const MAX_SHOWN = 240
/** How much of a text is read for it, in UTF-16 units. */
const MAX_READ = 2_000
/** Blanks stand as private-use characters, one for each, while markup is removed around them. */
const FIRST_MARK = 0xe000
const MAX_MARKS = 1_000
const PRIVATE_USE = /[\ue000-\uf8ff]/g

const FRONTMATTER = /^---[ \t]*\r?\n[\s\S]*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/
/** Where an object or a list of JSON begins, alone or after an introduction. */
const JSON_START = /[{[]\s*(?:[{[]\s*){0,4}(?:"[^"\n]{1,80}"\s*:)|^\[\s*"/
/** A JSON string, with the colon that makes it a key. */
const JSON_STRING = /"((?:[^"\\]|\\[\s\S])*)"(\s*:)?/g
const JSON_ESCAPE = /\\(?:u([0-9a-f]{4})|([\s\S]))/gi

/** A key of YAML that prose does not begin with, and what stands before the value on a line of YAML. */
const YAML_START = /^[\p{Ll}_][\p{L}\p{N}_-]{0,60}:(?:\s|$)/u
const YAML_KEY = /^(?:- )?(?:[\p{L}_][\p{L}\p{N}_-]{0,60}:(?=\s|$))?/u

/** Lines that are markup alone: rules, fences, underlines of headings, borders of tables. */
const MARKUP_LINE =
  /^[ \t]*(?:(?:#{1,6}[ \t]*)?[-=_*#~+─━═]{2,}|(?:`{3,}|~{3,})[^\n`]*|\|?(?:[ \t]?:?-+:?[ \t]?\|)+(?:[ \t]?:?-+:?)?)[ \t]*$/gm
const LINE_START = /^[ \t]*(?:(?:>[ \t]?)+|#{1,6}[ \t]+|(?:[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,3}[.)][ \t]+))/gm
const COMMENT = /<!--[\s\S]*?(?:-->|$)|<(style|script)\b[\s\S]*?(?:<\/\1>|$)|<!doctype[^>]{0,100}>/gi
const TAG = /<\/?[a-z][\w:.-]{0,40}(?:\s[^<>]{0,200})?\/?>/gi
const LINK = /!?\[([^\][\n]{0,300})\]\([^()\s]{0,500}(?:\s[^()\n]{0,100})?\)/g
const EMPHASIS = /\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}])|~~|`+/gu

/** Signs before the first word that say nothing: punctuation between parts, pictures. */
const ORNAMENT = /^(?:[\s:;,.·–—\p{So}-]|\ufe0f|\u200d)+/u

/**
 * The first words of a prompt as a list shows them: without frontmatter, Markdown, tags and the punctuation of JSON, on one line, blanks by
 * name. A first line that only repeats the title is left out. Takes time linear in the text.
 * @example firstWords('# Role\n\nGreet **${name}**.').pieces // [{text: 'Role Greet '}, {blank: 'name'}, {text: '.'}]
 */
export function firstWords(content: string, title = ''): FirstWords {
  const { segments, variables } = parseVariables(content)
  const names: string[] = []
  let text = ''
  for (const segment of segments) {
    if (text.length >= MAX_READ || names.length >= MAX_MARKS) break
    if (segment.kind !== 'variable') text += segment.raw.slice(0, MAX_READ).replace(PRIVATE_USE, '')
    else text += String.fromCharCode(FIRST_MARK + names.push(segment.name) - 1)
  }
  const plain = removeTitle(stripMarkup(text.trim()).replace(ORNAMENT, ''), title).replace(ORNAMENT, '')
  const whole = plain || collapse(text)
  const shown = cutCharacters(whole, MAX_SHOWN)
  return { pieces: toPieces(shown, names), blanks: variables.length, isCut: shown.length < whole.length }
}

function stripMarkup(text: string): string {
  const body = text.replace(FRONTMATTER, '')
  const source = body.trim() === '' ? text : body.trimStart()
  const values = readJsonValues(source)
  return collapse(stripMarkdown(values ? values.filter((part) => part.trim() !== '').join(' · ') : source))
}

/** The values of a text that is JSON, whatever introduces it first; null for another text. */
function readJsonValues(source: string): string[] | null {
  const json = source.search(JSON_START)
  if (json === -1) return null
  const strings = [...source.slice(json).matchAll(JSON_STRING)]
  return [source.slice(0, json), ...strings.filter(([, , colon]) => colon === undefined).map(([, value = '']) => unescapeJson(value))]
}

/**
 * The values of a text that is JSON or YAML, each on a line without markup; null for another text.
 * @example readValues('tone: cool\ntask: Draw a harbour.') // ['cool', 'Draw a harbour.']
 */
function readValues(text: string): string[] | null {
  const source = text.slice(0, MAX_READ).trimStart()
  const values =
    readJsonValues(source) ?? (YAML_START.test(source) ? source.split('\n').map((line) => line.trim().replace(YAML_KEY, '')) : null)
  return values?.map((value) => collapse(stripMarkdown(value))).filter((value) => value !== '') ?? null
}

function stripMarkdown(text: string): string {
  return text
    .replace(COMMENT, ' ')
    .replace(MARKUP_LINE, '')
    .replace(LINE_START, '')
    .replace(LINE_START, '')
    .replace(LINK, '$1')
    .replace(TAG, ' ')
    .replace(EMPHASIS, '')
    .replace(/^[ \t]*\||\|[ \t]*$/gm, '')
}

function unescapeJson(text: string): string {
  return text.replace(JSON_ESCAPE, (_, code?: string, character = '') =>
    code === undefined ? (/[nrtbf]/.test(character) ? '\n' : character) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** The text without the title at its start, when more follows. */
function removeTitle(text: string, title: string): string {
  const start = collapse(title).toLowerCase()
  if (start === '' || !text.toLowerCase().startsWith(start)) return text
  const rest = text.slice(start.length)
  return /^[\s:.·–—-]+\S/u.test(rest) ? rest.trim() : text
}

function toPieces(text: string, names: readonly string[]): FirstWord[] {
  return text
    .toWellFormed()
    .split(/([\ue000-\uf8ff])/)
    .flatMap((part, place): FirstWord[] => {
      if (part === '') return []
      return place % 2 === 0 ? [{ text: part }] : [{ blank: names[part.charCodeAt(0) - FIRST_MARK] ?? '' }]
    })
}

/** How much of a prompt's text is read for it, in characters: a query may read no more than this. */
export const DERIVED_FROM = 1_000
/** Shorter sentences mostly repeat the title ("Act as a poet."): the next one follows. */
const MIN_SENTENCE = 60
const MAX_SENTENCE = 200
/** A value of fewer words is no sentence. */
const MIN_WORDS = 5

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * Describes a prompt that has no description by the first sentences of its text: without markup, with variables in brackets, at most 200
 * characters. Of JSON and YAML it takes the longest value that reads like a sentence. Null for a text without words, or without such a value.
 * @param content the text, or at least its first {@link DERIVED_FROM} characters
 * @example deriveDescription('# Role\n\nAct as a guide to ${city}. Be kind.', 'Guide') // "Role Act as a guide to [city]. Be kind."
 */
export function deriveDescription(content: string, title: string): string | null {
  const start = cutCharacters(content, DERIVED_FROM)
  const values = readValues(start)
  // Short values strung together describe nothing.
  if (values) return describeValues(values)
  const { pieces } = firstWords(start, title)
  const text = pieces.map((piece) => ('text' in piece ? piece.text : `[${piece.blank}]`)).join('')
  let end = 0
  for (const { segment } of sentences.segment(text)) {
    end += segment.length
    if (end >= MIN_SENTENCE) break
  }
  const sentence = text.slice(0, end).trim()
  if (sentence === '') return null
  const isCut = end === text.length && !/[\p{P}\p{S}]$/u.test(sentence) && content.trim().length > text.length
  return cutAtWord(isCut ? `${sentence} …` : sentence, MAX_SENTENCE)
}

function describeValues(values: readonly string[]): string | null {
  const sentence = values.filter((value) => value.split(' ').length >= MIN_WORDS).sort((a, b) => b.length - a.length)[0]
  if (sentence === undefined) return null
  const { segments } = parseVariables(sentence)
  return cutAtWord(segments.map((segment) => (segment.kind === 'variable' ? `[${segment.name}]` : segment.raw)).join(''), MAX_SENTENCE)
}
