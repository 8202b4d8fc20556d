import { type Document, type DocumentOptions, isScalar, Lexer, type ParseOptions, parseDocument, type SchemaOptions, visit } from 'yaml'
import { AppError } from '../../errors.ts'
import { nestingFault } from '../prompts/config.ts'
import { isObject } from './json.ts'

type Options = ParseOptions & DocumentOptions & SchemaOptions

/**
 * Parses YAML; faults are in the document. Null when the parser fails: it calls itself for each level, so that a short text nested deep
 * enough is a RangeError.
 */
export function parseYaml(text: string, options: Options = {}): Document.Parsed | null {
  try {
    return parseDocument(text, { logLevel: 'error', ...options })
  } catch {
    return null
  }
}

/** Parses YAML: null when it does not parse, has warnings, or makes the parser fail. */
export function readYaml(text: string, options: Options = {}): Document.Parsed | null {
  const document = parseYaml(text, options)
  return document && document.errors.length + document.warnings.length === 0 ? document : null
}

/** A parsed document as plain values; undefined when its aliases would make too much of it, or when a key is no scalar. */
export function toPlain(document: Document.Parsed, maxAliasCount: number): unknown {
  try {
    if (hasComplexKey(document)) return undefined
    const plain: unknown = document.toJS({ maxAliasCount })
    return plain
  } catch {
    return undefined
  }
}

/** Whether a key is a collection or an alias. Such a key is written out as text at each level: 600 nested `?` take more than a minute. */
function hasComplexKey(document: Document.Parsed): boolean {
  let found = false
  visit(document, {
    Pair(_, { key }) {
      if (key === null || isScalar(key)) return undefined
      found = true
      return visit.BREAK
    },
  })
  return found
}

/** The fields of a file from outside, by name. */
export type Fields = Readonly<Record<string, unknown>>

/** Longest file read, in UTF-16 units: longer than a prompt may be. */
const MAX_FILE = 512 * 1024
/** Longest YAML at the head of a file. */
const MAX_HEAD = 64 * 1024
/** Most tokens of its YAML, of which a text of many lines is one: the time to parse grows with their square. */
const MAX_TOKENS = 20_000
/** How often aliases may be followed. */
const MAX_ALIASES = 10
const HEAD = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
/** A value as text: JSON of what is none. */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Fields apart from those with these names. */
export const without = (fields: Fields, ...names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

/** Tokens that are left for several texts together. */
export interface TokenRoom {
  tokens: number
}

/**
 * The fields of a YAML text.
 * @param room for the tokens of this text and of others
 * @throws AppError `invalid_input` for one that is none, too long, too deep, or blown up by aliases
 */
export function readFields(text: string, maxLength = MAX_FILE, room: TokenRoom = { tokens: MAX_TOKENS }): Fields {
  const refuse = (why: string) => new AppError('invalid_input', why)
  if (text.length > maxLength) throw refuse(`its YAML has ${text.length} characters; the limit is ${maxLength}`)
  if (text.trim() === '') return {}
  let tokens = 0
  for (const _ of new Lexer().lex(text)) {
    if (++tokens > MAX_TOKENS) throw refuse(`its YAML has more than ${MAX_TOKENS} tokens`)
    if (--room.tokens < 0) throw refuse('is not read: it and the files before it have too much YAML')
  }
  const document = readYaml(text)
  if (!document) throw refuse('is no YAML that can be read: look for a wrong indent, a key that is there twice, or missing quotes')
  const fields = toPlain(document, MAX_ALIASES)
  if (fields === undefined)
    throw refuse(`its YAML has keys that are no text, or more than ${MAX_ALIASES} uses of its anchors: write the values out`)
  if (!isObject(fields)) throw refuse('its YAML has no fields at its top')
  // A config is JSON.
  const fault = nestingFault(fields, 0)
  if (fault !== null) throw refuse(`its YAML ${fault}`)
  return JSON.parse(JSON.stringify(fields)) as Fields
}

/** The fields between `---` at the head of a file, and the text after them. @throws AppError as {@link readFields} */
export function readHead(text: string, room?: TokenRoom): { readonly fields: Fields; readonly body: string } {
  if (text.length > MAX_FILE) throw new AppError('invalid_input', `has ${text.length} characters; the limit is ${MAX_FILE}`)
  const head = HEAD.exec(text)
  if (!head && /^\uFEFF?---[ \t]*\r?\n/.test(text)) throw new AppError('invalid_input', 'its fields have no second line ---')
  return { fields: readFields(head?.[1] ?? '', MAX_HEAD, room), body: text.slice(head?.[0].length ?? 0).replace(/^\uFEFF/, '') }
}
