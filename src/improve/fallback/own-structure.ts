import { isAlias, isMap, isNode, isScalar, visit, type YAMLMap } from 'yaml'
import { parseJson } from '../../domain/text/json.ts'
import { readYaml, toPlain } from '../../domain/text/read-yaml.ts'
import { parseVariables } from '../../domain/variables/variables.ts'
import type { OutputFormat } from '../output.ts'
import { writeYaml } from './write-structure.ts'

/** A prompt that is JSON or YAML. `isResult`: it is an object in its own notation; `isExact`: another notation can represent all of it. */
interface OwnStructure {
  readonly notation: 'json' | 'yaml'
  readonly value: unknown
  readonly isResult: boolean
  readonly isExact: boolean
}

type Members = Readonly<Record<string, unknown>>

/** A key that tells YAML from prose with a colon. */
const KEY = /^[\p{Ll}\p{Lo}_][\p{L}\p{M}\p{N}_-]{0,63}$/u
const FIRST_LINE = /^(?:[ \t]*(?:#.*|---)?\r?\n)*[\p{Ll}\p{Lo}_][\p{L}\p{M}\p{N}_-]{0,63}:(?:\s|$)/u

/**
 * A prompt that is JSON or YAML, in a format: as it was written where that will do, else in the notation asked for.
 * @returns null for every other prompt, and where another notation would lose something: such a prompt is a text like any other
 */
export function keepOwnStructure(prompt: string, format: OutputFormat): string | null {
  const own = readJson(prompt) ?? readYamlMapping(prompt, format === 'structured_yaml')
  if (!own) return null
  if (format === 'text') return prompt
  const target = format === 'structured_json' ? 'json' : 'yaml'
  if (target === own.notation) return own.isResult ? prompt : null
  if (!own.isResult || !own.isExact || !isRecord(own.value)) return null
  const converted = target === 'json' ? JSON.stringify(own.value, null, 2) : writeYaml(own.value)
  // A variable that spans lines, or a brace that finds another partner, would be read differently.
  return namesOf(converted) === namesOf(prompt) && (readJson(converted) ?? readYamlMapping(converted, true)) ? converted : null
}

function readJson(prompt: string): OwnStructure | null {
  // Not trimmed: JSON knows four kinds of white space, and a text with another before it is not JSON.
  if (!/^[ \t\r\n]*[[{]/.test(prompt)) return null
  const parsed = parseJson(prompt)
  if (!parsed.ok) return null
  const { value } = parsed
  const keys = isRecord(value) ? Object.keys(value) : []
  // JSON keeps the last of two members of one name, and reads 1.10 as 1.1: both show when the value is written again.
  const isExact = keys.every((key) => KEY.test(key)) && squeeze(JSON.stringify(value)) === squeeze(prompt)
  return { notation: 'json', value, isResult: keys.length > 0, isExact }
}

/** A JSON text without white space between its tokens, its strings spelled in one way. */
function squeeze(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : ''))
}

/** A mapping with keys that no prose has: at least two, or one with more than a word behind it. `isOneEnough` takes any one. */
function readYamlMapping(text: string, isOneEnough: boolean): OwnStructure | null {
  if (!FIRST_LINE.test(text)) return null
  const document = readYaml(text, { prettyErrors: false, uniqueKeys: false })
  const root = document?.contents
  if (!document || !isMap(root) || root.flow) return null
  if (!root.items.every(({ key }) => isScalar(key) && typeof key.value === 'string' && KEY.test(key.value))) return null
  const [first] = root.items
  const isBlock = isNode(first?.value) && (!isScalar(first.value) || /^BLOCK/.test(first.value.type ?? ''))
  if (root.items.length < 2 && !isOneEnough && !isBlock) return null
  let isResult = true
  let isExact = !/^%/m.test(text)
  visit(document, {
    Node(_, node) {
      if (isAlias(node) || node.anchor !== undefined || node.tag !== undefined) isResult = false
      if (node.comment || node.commentBefore) isExact = false
      if (isMap(node) && hasDuplicateKey(node)) isResult = false
      // YAML reads 1.10 as 1.1.
      if (isScalar(node) && typeof node.value !== 'string' && node.value !== null && String(node.value) !== node.source) isExact = false
    },
  })
  if (document.comment || document.commentBefore) isExact = false
  const value = isResult ? toPlain(document, 0) : undefined
  return { notation: 'yaml', value, isResult: isRecord(value), isExact }
}

function hasDuplicateKey(map: YAMLMap): boolean {
  const keys = map.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []))
  return new Set(keys).size < keys.length
}

function namesOf(text: string): string {
  return parseVariables(text)
    .variables.map(({ name }) => name)
    .toSorted()
    .join('\n')
}

function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
