import { parseVariables } from '../../library/variables.ts'
import type { OutputFormat, OutputType } from '../output.ts'
import { readYaml } from '../read-yaml.ts'
import type { FreeNames } from './blanks.ts'
import { draftMedia } from './draft-media.ts'
import { findFacets } from './find-facets.ts'
import { MEDIA_PARTS, toKey } from './heading-words.ts'
import { planText } from './plan-text.ts'
import { flattenObject, listTexts, type ReadObject } from './read-object.ts'
import { type ReadPrompt, readPrompt } from './read-prompt.ts'
import type { Structure } from './read-structure.ts'
import { type Members, type MemberValue, toMembers, writeJson, writeYaml } from './write-members.ts'

/**
 * A prompt that is an object, with the members it lacks at its end. In its own notation nothing of it is written anew, so that
 * comments, order and the spelling of numbers stay; only a change of notation writes it again.
 * @returns null when adding would change what its variables mean, or a change of notation what it holds
 */
export function improveObject(
  object: ReadObject,
  outputType: OutputType,
  outputFormat: OutputFormat,
  names: FreeNames,
  structure: Structure,
): string | null {
  const added = findMissing(object, outputType, names, structure)
  const target = outputFormat === 'text' ? object.notation : outputFormat === 'structured_json' ? 'json' : 'yaml'
  if (target !== object.notation) return isExact(object) ? convert(object, added, target) : null
  if (added.length === 0) return object.text
  const improved = target === 'json' ? insertJson(object.text, added) : appendYaml(object, added)
  return keepsVariables(object.text, improved) ? improved : null
}

function findMissing(object: ReadObject, outputType: OutputType, names: FreeNames, structure: Structure): Members {
  const flat = flattenObject(object.members)
  const prompt: ReadPrompt = { ...readPrompt(flat), isSectioned: true }
  if (outputType === 'text' && describesMedia(flat)) return []
  const lead = object.members
    .filter(([, value]) => typeof value === 'string')
    .map(([, value]) => String(value))
    .join('\n')
  const sections =
    outputType === 'text'
      ? [...planText({ prompt, lead, names, structure }, true)].map(([part, text]) => ({ part, title: '', text, isOwn: false }))
      : draftMedia(outputType, prompt, names, structure, false, listTexts(object.members.map(([, value]) => value))).sections.slice(1)
  const known = new Set(object.members.map(([key]) => toKey(key)))
  return toMembers(sections).filter(([key]) => !known.has(toKey(key)))
}

/** Parts of pictures, films or sounds that make an object a prompt for one of them, whatever type was asked for: a role would be noise in it. */
const MEDIA_SIGN = 3

function describesMedia(flat: string): boolean {
  const parts = findFacets(flat, {})
  return MEDIA_PARTS.filter((part) => parts.has(part)).length >= MEDIA_SIGN
}

/** Members written before the last brace of a JSON object, indented like its first member. */
function insertJson(text: string, added: Members): string {
  const head = text.slice(0, text.lastIndexOf('}')).trimEnd()
  const body = writeJson(added).slice(1, -1).trimEnd()
  return `${head}${head.endsWith('{') ? '' : ','}${body}\n}`
}

/**
 * Whether what was read is all there is: JSON forgets the first of two members of one name, and `1.10` or `9007199254740993` is another
 * number once it was read. Both are seen by writing the values again, and comparing without white space.
 */
function isExact({ notation, text, members }: ReadObject): boolean {
  return notation === 'yaml' || squeezeJson(JSON.stringify(Object.fromEntries(members))) === squeezeJson(text)
}

/** A valid JSON text without white space between its tokens, its strings spelled in one way. */
function squeezeJson(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : ''))
}

/** Members after the last line of a YAML mapping; one that ends in a way that takes no more lines is written anew. */
function appendYaml(object: ReadObject, added: Members): string {
  const appended = `${object.text}\n${writeYaml(Object.fromEntries(added))}`
  const document = readYaml(appended, { prettyErrors: false, uniqueKeys: false })
  const isWhole =
    document !== null &&
    added.every(([key]) => document.has(key)) &&
    object.members.every(([key]) => key === 'comments' || document.has(key))
  return isWhole ? appended : convert(object, added, 'yaml')
}

function convert(object: ReadObject, added: Members, target: 'json' | 'yaml'): string {
  const members: [string, unknown][] = [
    ...object.members.map(([key, value]): [string, unknown] => [key, value]),
    ...added.map(([key, value]): [string, MemberValue] => [key, value]),
  ]
  const value = Object.fromEntries(members)
  return target === 'json' ? JSON.stringify(value, null, 2) : writeYaml(value)
}

/** Whether every variable of a text is one of another, with the same default. */
export function keepsVariables(original: string, improved: string): boolean {
  const kept = new Map(parseVariables(improved).variables.map((variable) => [variable.name, variable.default]))
  return parseVariables(original).variables.every((variable) => kept.has(variable.name) && kept.get(variable.name) === variable.default)
}
