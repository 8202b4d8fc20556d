import { type Document, visit } from 'yaml'
import { hasForbiddenCharacter, isBlank, isLongerThan } from '../../domain/text/characters.ts'
import { parseJson } from '../../domain/text/json.ts'
import { readYaml, toPlain } from '../../domain/text/read-yaml.ts'
import { parseVariables } from '../../domain/variables/variables.ts'
import type { OutputFormat } from '../output.ts'

/** Longest improved prompt, in characters. */
export const MAX_IMPROVED = 100_000
/** The limit for YAML, whose parse time can grow with the square of its length. */
const MAX_YAML = 30_000
/** How often aliases of a YAML text may be followed: more than a person writes, too few to blow it up. */
const MAX_YAML_ALIASES = 100

/** A usable answer, or its fault. `fault` completes "cannot be used:" and contains nothing of the prompt. */
export type ReadAnswer =
  | { readonly ok: true; readonly improved: string }
  | {
      readonly ok: false
      readonly fault: string
      /** Variables of the original that are missing, as written there. */
      readonly missing: readonly string[]
    }

/**
 * Reads the answer of a model: removes thinking before it and a code fence around it, and checks the requested format. It is parsed for
 * validity only, never executed.
 */
export function readAnswer(answer: string, original: string, format: OutputFormat): ReadAnswer {
  const text = takeOffThinking(answer).trim()
  const isFenceOurs = format === 'text' && original.includes('```')
  const inner = isFenceOurs ? text : takeOffFence(text)
  // Of a text with code blocks of its own, the first and the last line may belong to two of them.
  const improved = format === 'text' && /^\s*```/m.test(inner) ? text : inner
  const fault = text.startsWith(THINKING) ? 'it never came to the end of its thinking' : findFault(improved, format)
  if (fault) return { ok: false, fault, missing: [] }
  const kept = new Set(parseVariables(improved).variables.map((variable) => variable.name))
  const before = parseVariables(original)
  const lost = before.variables.filter((variable) => !kept.has(variable.name)).map((variable) => variable.name)
  if (lost.length === 0) return { ok: true, improved }
  const missing = lost.flatMap((name) => before.segments.find((one) => one.kind === 'variable' && one.name === name)?.raw ?? [])
  return { ok: false, fault: `${lost.length} of the prompt's \${...} blanks ${lost.length === 1 ? 'is' : 'are'} gone`, missing }
}

const THINKING = '<think>'

/** Models that think aloud put it in front, between tags of this name. */
function takeOffThinking(answer: string): string {
  const start = answer.trimStart()
  const end = start.startsWith(THINKING) ? start.indexOf('</think>') : -1
  return end === -1 ? answer : start.slice(end + '</think>'.length)
}

/** A text without the one code fence around it. */
function takeOffFence(text: string): string {
  const lines = text.split('\n')
  const last = lines.at(-1)?.trim() ?? ''
  if (lines.length < 2 || !/^```[\w-]*$/.test(lines[0]?.trim() ?? '') || last !== '```') return text
  return lines.slice(1, -1).join('\n').trim()
}

function findFault(text: string, format: OutputFormat): string | null {
  if (isBlank(text)) return 'it is blank'
  const limit = format === 'structured_yaml' ? MAX_YAML : MAX_IMPROVED
  if (isLongerThan(text, limit)) return `it is longer than ${limit} characters`
  const forbidden = hasForbiddenCharacter(text)
  if (forbidden) return `it has a ${forbidden} in it`
  if (format === 'structured_json') return isStructure(readJson(text)) ? null : 'it is not one valid JSON object with at least one member'
  if (format === 'structured_yaml')
    return isStructure(readYamlValue(text)) ? null : 'it is not one valid YAML mapping with at least one member'
  return null
}

/** An object with something in it. A list is no prompt with parts, and an empty object says nothing. */
function isStructure(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function readJson(text: string): unknown {
  const parsed = parseJson(text)
  return parsed.ok ? parsed.value : undefined
}

function readYamlValue(text: string): unknown {
  const document = readYaml(text)
  // A tag makes a value something else in other programs: `!!js/function`, `!!python/object`.
  return document === null || hasTag(document) ? undefined : toPlain(document, MAX_YAML_ALIASES)
}

function hasTag(document: Document.Parsed): boolean {
  let found = false
  visit(document, {
    Node(_, node) {
      if (!('tag' in node) || node.tag === undefined) return undefined
      found = true
      return visit.BREAK
    },
  })
  return found
}
