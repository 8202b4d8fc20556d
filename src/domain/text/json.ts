/** Deepest nesting of arrays and objects taken from outside. */
const MAX_JSON_DEPTH = 64
/** Most members of all arrays and objects together: a skill of 512 files has some 1,600; a text of a few MiB can hold a million, and each costs. */
const MAX_JSON_MEMBERS = 20_000

/** Whether a value is a JSON object, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value that is written as JSON; undefined where that is none. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string }

/**
 * Parses JSON from outside: refuses what is malformed, nested too deep, or made of too many pieces, before building any of it.
 * @param maxMembers of all arrays and objects together
 */
export function parseJson(text: string, maxMembers = MAX_JSON_MEMBERS): ParsedJson {
  const { depth, members } = measure(text, maxMembers)
  if (depth > MAX_JSON_DEPTH) return { ok: false, reason: `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.` }
  if (members > maxMembers) return { ok: false, reason: `The JSON has more than ${maxMembers} members, which is the limit.` }
  try {
    const value: unknown = JSON.parse(text)
    return { ok: true, value }
  } catch {
    return { ok: false, reason: 'The body is not valid JSON.' }
  }
}

/** The place of the quotation mark that ends a string, or the end of the text. Long strings are passed over as quickly as the engine searches. */
function findStringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return text.length
}

/** Deepest nesting of a JSON text and how many members its arrays and objects have, in one scan that stops just over either limit. */
function measure(text: string, maxMembers: number): { depth: number; members: number } {
  let open = 0
  let depth = 0
  let members = 0
  for (let i = 0; i < text.length && depth <= MAX_JSON_DEPTH && members <= maxMembers; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0x22) i = findStringEnd(text, i)
    else if (unit === 0x2c) members++
    else if (unit === 0x5b || unit === 0x7b) {
      open++
      members++
      if (open > depth) depth = open
    } else if (unit === 0x5d || unit === 0x7d) open--
  }
  return { depth, members }
}

/** A piece of a text: literal text, or a blank with its name. */
type Piece = string | { readonly name: string }

/**
 * The blanks that stand in strings of a JSON text, by their place among its pieces; none where the text is no JSON, whatever is put in. A value
 * for such a blank must be escaped, or it would end the string.
 */
export function findQuotedBlanks(pieces: readonly Piece[]): ReadonlySet<number> {
  const quoted = new Set<number>()
  let sample = ''
  let isInString = false
  for (const [place, piece] of pieces.entries()) {
    if (typeof piece !== 'string') {
      if (isInString) quoted.add(place)
      sample += isInString ? 'x' : 'null'
      continue
    }
    for (let at = 0; at < piece.length; at++) {
      if (isInString && piece[at] === '\\') at++
      else if (piece[at] === '"') isInString = !isInString
    }
    sample += piece
  }
  if (quoted.size === 0) return quoted
  try {
    JSON.parse(sample)
    return quoted
  } catch {
    return new Set()
  }
}

/** A value as it stands in a JSON string. */
export function escapeInJson(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}
