import { z } from 'zod'
import { hasForbiddenCharacter } from '../text/characters.ts'
import { isObject } from '../text/json.ts'

/** Settings for programs beside the text, such as model, temperature, tools and a schema of the answer. */
export type PromptConfig = Readonly<Record<string, unknown>>

const MAX_CONFIG_BYTES = 16 * 1024
const MAX_DEPTH = 20

/** A JSON object of at most 16 KiB. Schemas in it are checked where it is saved. */
export const configField = z
  .unknown()
  .transform((value, issues): PromptConfig => {
    const fault = configFault(value)
    if (fault === null && isObject(value)) return value
    issues.addIssue({ code: 'custom', message: fault ?? 'must be a JSON object' })
    return z.NEVER
  })
  .meta({ type: 'object', additionalProperties: true })

function configFault(value: unknown): string | null {
  if (!isObject(value)) return 'must be a JSON object'
  const fault = nestingFault(value, 1)
  if (fault !== null) return fault
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_CONFIG_BYTES) return `has ${bytes} bytes as JSON; the limit is ${MAX_CONFIG_BYTES}`
  return null
}

/** Why JSON cannot be stored: too deep, a character that databases refuse, or `__proto__`; null for none. */
export function nestingFault(value: unknown, depth: number): string | null {
  if (typeof value === 'string') {
    const forbidden = hasForbiddenCharacter(value)
    return forbidden ? `contains a ${forbidden}, which cannot be stored` : null
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return 'has a number that JSON cannot hold'
  if (typeof value !== 'object' || value === null) return null
  if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} deep`
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') return 'has a key "__proto__", which programs would misread'
    const fault = nestingFault(key, depth) ?? nestingFault(inner, depth + 1)
    if (fault !== null) return fault
  }
  return null
}

/** JSON Schemas in a config, by their path: of the answer, and of what tools take. */
export function schemasIn(config: PromptConfig): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const key of ['responseSchema', 'response_schema', 'json_schema', 'output_schema'])
    if (config[key] !== undefined) found.set(key, config[key])
  const format = config['response_format']
  if (isObject(format)) {
    const named = format['json_schema']
    if (isObject(named) && named['schema'] !== undefined) found.set('response_format.json_schema.schema', named['schema'])
    else if (format['schema'] !== undefined) found.set('response_format.schema', format['schema'])
  }
  const tools = config['tools']
  for (const [place, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    if (!isObject(tool)) continue
    const called = isObject(tool['function']) ? { at: 'function.', of: tool['function'] } : { at: '', of: tool }
    for (const key of ['parameters', 'input_schema', 'inputSchema'])
      if (called.of[key] !== undefined) found.set(`tools[${place}].${called.at}${key}`, called.of[key])
  }
  return found
}

/** The keys in which two configs differ, with both values as JSON; null where there is none. */
export function compareConfigs(
  before: PromptConfig | null,
  after: PromptConfig | null,
): { key: string; before: string | null; after: string | null }[] {
  const keys = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const show = (config: PromptConfig | null, key: string) =>
    config && Object.hasOwn(config, key) ? JSON.stringify(config[key], null, 2) : null
  return [...keys].flatMap((key) => {
    const change = { key, before: show(before, key), after: show(after, key) }
    return change.before === change.after ? [] : [change]
  })
}
