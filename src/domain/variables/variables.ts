import { AppError } from '../../errors.ts'
import { countCharacters } from '../text/characters.ts'
import { escapeInJson, findQuotedBlanks } from '../text/json.ts'

/** A blank in a prompt's text. `default` is present (and may be empty) exactly when `required` is false. */
export interface Variable {
  readonly name: string
  readonly required: boolean
  readonly default?: string
}

/**
 * How a text marks what is put in. 1: variables alone, as texts were read before 1.0. 2: also parts, `${> slug}`, and backslashes before
 * either: `\\${name}` is the text `${name}`, and `\\\\${name}` a backslash and the value.
 */
export type Syntax = 1 | 2

/** A piece of a text, `raw` as it was written: literal text and what it says when filled in, a variable, or another prompt to put in. */
type Segment =
  | { readonly kind: 'text'; readonly raw: string; readonly text: string }
  | { readonly kind: 'variable'; readonly raw: string; readonly name: string }
  | ({ readonly kind: 'part'; readonly raw: string } & PartRef)

/** The prompt that a part names: its slug or id, and the label or version to take, null for the newest. */
export interface PartRef {
  readonly ref: string
  readonly at: string | null
}

/** A text taken apart: its pieces in order, and its distinct variables in order of first occurrence. */
export interface ParsedText {
  readonly segments: readonly Segment[]
  readonly variables: readonly Variable[]
}

export const MAX_VARIABLES = 100
export const MAX_VARIABLE_NAME = 64
export const MAX_VARIABLE_VALUE = 10_000
export const MAX_FILLED_TEXT = 1_000_000

const NAME = /^[\p{L}_][\p{L}\p{M}\p{Nd}_\-'/ ]*$/u
const PART = /\$\{> ?([\p{L}\p{N}_-]{1,120})(?:@([a-z0-9_.-]{1,36}))? ?\}/uy
const ESCAPABLE_PART = new RegExp(String.raw`(?<!\\)(\\*)(${PART.source})`, 'gu')
const NAME_STOP = /[^\p{L}\p{M}\p{Nd}_\-'/ ]/gu

/**
 * Takes a text apart into literal text, variables (`${name}`, `${name:default}`) and parts (`${> slug}`) in one linear scan.
 * Rules: contract, "Text with variables". Anything that is not a variable is text; nothing is ever refused.
 * @example parseVariables('Hi ${name:you}').variables // [{name: 'name', required: false, default: 'you'}]
 */
export function parseVariables(text: string, syntax: Syntax = 2): ParsedText {
  if (!text.includes('${')) return { segments: text === '' ? [] : [literal(text)], variables: [] }
  const closings = matchBraces(text)
  const segments: Segment[] = []
  const variables = new Map<string, Variable>()
  let literalFrom = 0
  let at = text.indexOf('${')
  while (at !== -1) {
    const part = syntax === 1 ? undefined : readPart(text, at)
    const found = part ? undefined : readVariable(text, at, closings)
    const end = part?.end ?? found?.end
    const backslashes = syntax === 1 || end === undefined ? 0 : countBackslashes(text, literalFrom, at)
    if (backslashes > 0) {
      // Each pair before is one backslash; one that is left over makes this no variable.
      const isEscaped = backslashes % 2 === 1
      const literalTo = isEscaped ? end : at
      const said = text.slice(literalFrom, at - backslashes) + '\\'.repeat(Math.floor(backslashes / 2)) + text.slice(at, literalTo)
      segments.push({ kind: 'text', raw: text.slice(literalFrom, literalTo), text: said })
      literalFrom = literalTo ?? at
      if (isEscaped) {
        at = text.indexOf('${', literalFrom)
        continue
      }
    }
    if (part) {
      if (at > literalFrom) segments.push(literal(text.slice(literalFrom, at)))
      segments.push({ kind: 'part', raw: text.slice(at, part.end), ref: part.ref, at: part.at })
      literalFrom = part.end
      at = text.indexOf('${', part.end)
    } else if (found && (variables.has(found.name) || variables.size < MAX_VARIABLES)) {
      if (at > literalFrom) segments.push(literal(text.slice(literalFrom, at)))
      segments.push({ kind: 'variable', raw: text.slice(at, found.end), name: found.name })
      const existing = variables.get(found.name)
      if (!existing || (existing.required && found.default !== undefined)) {
        variables.set(
          found.name,
          found.default === undefined
            ? { name: found.name, required: true }
            : { name: found.name, required: false, default: found.default },
        )
      }
      literalFrom = found.end
      at = text.indexOf('${', found.end)
    } else {
      at = text.indexOf('${', at + 2)
    }
  }
  if (literalFrom < text.length) segments.push(literal(text.slice(literalFrom)))
  return { segments, variables: [...variables.values()] }
}

function literal(text: string): Segment {
  return { kind: 'text', raw: text, text }
}

/** How many backslashes stand before `at`, none of them before `from`. */
function countBackslashes(text: string, from: number, at: number): number {
  let start = at
  while (start > from && text.charCodeAt(start - 1) === 0x5c) start--
  return at - start
}

/** Reads the part whose `${` stands at `at`; undefined when what follows is none. */
function readPart(text: string, at: number): (PartRef & { readonly end: number }) | undefined {
  PART.lastIndex = at
  const found = PART.exec(text)
  return found?.[1] === undefined ? undefined : { ref: found[1], at: found[2] ?? null, end: PART.lastIndex }
}

/** The position of the brace that closes each opening one (-1 where none does), by one pass with a stack. */
function matchBraces(text: string): Map<number, number> {
  const closings = new Map<number, number>()
  const open: number[] = []
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0x7b) open.push(i)
    else if (unit === 0x7d) {
      const opened = open.pop()
      if (opened !== undefined) closings.set(opened, i)
    }
  }
  return closings
}

/** Reads the variable whose `${` stands at `at`; undefined when what follows is not one. `end` is the index after its brace. */
function readVariable(
  text: string,
  at: number,
  closings: Map<number, number>,
): { name: string; default?: string; end: number } | undefined {
  const nameFrom = at + 2
  NAME_STOP.lastIndex = nameFrom
  const stop = NAME_STOP.exec(text)
  if (!stop || (stop[0] !== '}' && stop[0] !== ':')) return undefined
  const name = trimSpaces(text, nameFrom, stop.index).normalize('NFC')
  if (!isVariableName(name)) return undefined
  if (stop[0] === '}') return { name, end: stop.index + 1 }
  const closing = closings.get(at + 1)
  if (closing === undefined) return undefined
  return { name, default: text.slice(stop.index + 1, closing), end: closing + 1 }
}

/** Whether a text between the braces is a name, as it stands. */
export function isVariableName(name: string): boolean {
  return NAME.test(name) && countCharacters(name) <= MAX_VARIABLE_NAME
}

/** The part of `text` between two positions without the spaces around it; a regular expression would take quadratic time on a run of them. */
function trimSpaces(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
  return text.slice(start, end)
}

/** A piece of a text to write: what it says, or a variable. */
export type Piece = { readonly text: string } | { readonly name: string; readonly default?: string | undefined }

/**
 * Writes a text that says these pieces, the reverse of {@link parseVariables}: what would be read as a variable or part but is none gets a
 * backslash, and backslashes before either are doubled. No two texts may follow each other.
 * @example writePieces([{ text: 'Costs ${price}: ' }, { name: 'price' }]) // 'Costs \\${price}: ${price}'
 */
export function writePieces(pieces: readonly Piece[]): string {
  const raw = pieces.map((piece) =>
    'text' in piece ? piece.text : `\${${piece.name}${piece.default === undefined ? '' : `:${piece.default}`}}`,
  )
  const whole = raw.join('')
  // Backslashes change no braces, so that these hold for the written text too.
  const closings = matchBraces(whole)
  let to = 0
  return raw
    .map((text, place) => {
      const from = to
      to += text.length
      return 'text' in (pieces[place] ?? {}) ? escapeLiteral(whole, from, to, closings, place < pieces.length - 1) : text
    })
    .join('')
}

function escapeLiteral(whole: string, from: number, to: number, closings: Map<number, number>, isBeforeVariable: boolean): string {
  let written = ''
  let start = from
  let at = whole.indexOf('${', from)
  while (at !== -1 && at < to) {
    const found = readPart(whole, at) ?? readVariable(whole, at, closings)
    if (found && found.end <= to) {
      written += `${whole.slice(start, at)}${'\\'.repeat(countBackslashes(whole, start, at) + 1)}${whole.slice(at, found.end)}`
      start = found.end
    }
    at = whole.indexOf('${', Math.max(at + 2, start))
  }
  return written + whole.slice(start, to) + (isBeforeVariable ? '\\'.repeat(countBackslashes(whole, start, to)) : '')
}

/** Whether a text that was read in the earlier syntax means something else in the present one. */
export function meansOtherwise(text: string): boolean {
  if (!/\\\$\{|\$\{>/.test(text)) return false
  return parseVariables(text).segments.some(
    (segment) => segment.kind === 'part' || (segment.kind === 'text' && segment.text !== segment.raw),
  )
}

/** A text in which the backslashes at its end are written twice, so that they stay before a variable. */
export function doubleLastBackslashes(text: string): string {
  return text + '\\'.repeat(countBackslashes(text, 0, text.length))
}

/** A text of the earlier syntax, written so that it means the same in the present one. */
export function toPresentSyntax(text: string): string {
  if (!meansOtherwise(text)) return text
  const pieces = parseVariables(text, 1).segments
  return pieces
    .map(({ kind, raw }, place) => {
      if (kind === 'variable') return raw
      const escaped = raw.replaceAll(ESCAPABLE_PART, (_, run: string, part: string) => `${run}${run}\\${part}`)
      return pieces[place + 1]?.kind === 'variable' ? doubleLastBackslashes(escaped) : escaped
    })
    .join('')
}

/** A text written so that all of it stands for itself: nothing in it is a variable or a part. */
export function escapeVariables(text: string): string {
  return text.includes('${') ? writePieces([{ text }]) : text
}

/** A text with its blanks filled in. `unfilled` are the required variables that got no value and stand as they were written. */
export interface FilledText {
  readonly text: string
  readonly unfilled: readonly string[]
}

/**
 * Fills `values`, or defaults, into a text in one pass: values are not parsed again. Names are compared in NFC; values for unknown names
 * are ignored. In strings of a JSON text, values are escaped, so that it stays one.
 * @throws AppError `invalid_input` for a value over 10,000 characters, `too_large` when the result would pass 1,000,000 (computed before
 * building)
 */
export function fillVariables(text: string, values: ReadonlyMap<string, string>, syntax: Syntax = 2, limit = MAX_FILLED_TEXT): FilledText {
  const parsed = parseVariables(text, syntax)
  const given = new Map<string, string>()
  for (const [name, value] of values) given.set(name.normalize('NFC'), value)
  const puts = new Map<string, { value: string; length: number }>()
  const unfilled: string[] = []
  for (const variable of parsed.variables) {
    const value = given.get(variable.name) ?? variable.default
    if (value === undefined) unfilled.push(variable.name)
    else puts.set(variable.name, { value, length: countCharacters(value) })
  }
  for (const [name, put] of puts) {
    if (given.has(name) && put.length > MAX_VARIABLE_VALUE) {
      throw new AppError('invalid_input', `variables.${name} has ${put.length} characters; the limit is ${MAX_VARIABLE_VALUE}.`, {
        details: [{ path: `variables.${name}`, message: `at most ${MAX_VARIABLE_VALUE} characters` }],
      })
    }
  }
  const quoted = findQuotedBlanks(parsed.segments.map((segment) => (segment.kind === 'variable' ? segment : segment.raw)))
  const escaped = new Map<string, { value: string; length: number }>()
  for (const place of quoted) {
    const segment = parsed.segments[place]
    const name = segment?.kind === 'variable' ? segment.name : ''
    const put = puts.get(name)
    // A default stands in the text as it is.
    if (!put || !given.has(name) || escaped.has(name)) continue
    const value = escapeInJson(put.value)
    escaped.set(name, { value, length: countCharacters(value) })
  }
  const pieces = parsed.segments.map((segment, place) => {
    const put = segment.kind === 'variable' ? (quoted.has(place) && escaped.get(segment.name)) || puts.get(segment.name) : undefined
    const value = segment.kind === 'text' ? segment.text : segment.raw
    return put ?? { value, length: countCharacters(value) }
  })
  const total = pieces.reduce((sum, { length }) => sum + length, 0)
  if (total > limit) {
    throw new AppError(
      'too_large',
      `The filled-in text would have more than ${MAX_FILLED_TEXT} characters, the limit. Give shorter values.`,
    )
  }
  return {
    text: pieces.map(({ value }) => value).join(''),
    unfilled,
  }
}

/**
 * A variable's name as people read it: words apart, the first one with a capital. Abbreviations stay in capitals where the name mixes cases.
 * @example labelVariable('clientName') // 'Client name'
 */
export function labelVariable(name: string): string {
  const isShouted = name === name.toUpperCase()
  const words = name
    .replaceAll(/(?<=[\p{Ll}\p{Nd}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .split(/[\s_-]+/u)
    .filter((word) => word !== '')
    .map((word) => (isShouted || !/^\p{Lu}+\p{Nd}*$/u.test(word) ? word.toLowerCase() : word))
  const label = words.join(' ')
  const first = String.fromCodePoint(label.codePointAt(0) ?? 0x20)
  return label === '' ? name : first.toUpperCase() + label.slice(first.length)
}
