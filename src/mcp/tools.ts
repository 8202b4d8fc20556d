import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { escapeControlsInJson } from '../domain/text/controls.ts'
import type { Operation, ToolProfile } from '../operations/core/define-operation.ts'
import { toJsonSchema } from '../operations/core/json-schema.ts'

const jsonObject = z.record(z.string(), z.json())
const shown = new WeakMap<z.ZodObject, Tool['inputSchema']>()

/** JSON Schema of an input or output as tools show it: without the dialect's address, which only costs tokens. */
function toSchema(schema: z.ZodObject): Tool['inputSchema'] {
  const known = shown.get(schema)
  if (known) return known
  const { properties, required } = toJsonSchema(schema, 'input')
  const made: Tool['inputSchema'] = {
    type: 'object',
    ...(properties ? { properties: jsonObject.parse(properties) } : {}),
    ...(required ? { required } : {}),
  }
  shown.set(schema, made)
  return made
}

function without(schema: Tool['inputSchema'], name: string): Tool['inputSchema'] {
  const { [name]: _, ...properties } = schema.properties ?? {}
  return { ...schema, properties }
}

/** The operations offered as tools, by name: those for everybody, and those of the profile. */
export function selectTools(operations: readonly Operation[], profile?: ToolProfile): Map<string, Operation> {
  const isOffered = ({ surfaces: { mcp } }: Operation) => mcp !== undefined && (mcp.profile === undefined || mcp.profile === profile)
  return new Map(operations.filter(isOffered).map((operation) => [operation.name, operation] as const))
}

/** The length of an answer by default, as JSON: clients hide longer ones from their model, or refuse them. */
const BUDGET = 24_000
const BUDGET_PER_RESULT = 600

/** The arguments of a call with the defaults that only models get. */
export function toToolInput({ surfaces }: Operation, args: Record<string, unknown>): Record<string, unknown> {
  if (!surfaces.mcp?.hasBudget || (args['maxCharacters'] !== undefined && args['maxCharacters'] !== null)) return args
  const { limit } = args
  // A limit beyond this is refused, and nothing else should be.
  const results = typeof limit === 'number' && limit <= 1000 ? Math.ceil(limit) : 0
  return { ...args, maxCharacters: Math.max(BUDGET, BUDGET_PER_RESULT * results) }
}

/** A tool's answer as its text. What is text alone is often long: with line breaks a client can page through it. */
export function toToolText({ surfaces }: Operation, answer: Record<string, unknown>): string {
  return escapeControlsInJson(surfaces.mcp?.textOnly ? JSON.stringify(answer, null, 1) : JSON.stringify(answer))
}

/** The answer of tools/list, built once. */
export function describeTools(operations: readonly Operation[], profile?: ToolProfile): Tool[] {
  return [...selectTools(operations, profile).values()].map((operation) => {
    const hints = operation.surfaces.mcp
    return {
      name: operation.name,
      title: operation.title,
      description: [operation.summary, ...(hints?.note === undefined ? [] : [hints.note])].join(' '),
      inputSchema: toSchema(operation.input),
      // Hints are a separate text besides the structured answer.
      ...(hints?.textOnly ? {} : { outputSchema: without(toSchema(operation.output), 'hints') }),
      annotations: {
        title: operation.title,
        readOnlyHint: hints?.readOnly ?? false,
        destructiveHint: hints?.destructive ?? false,
        idempotentHint: hints?.idempotent ?? hints?.readOnly ?? false,
        openWorldHint: hints?.openWorld ?? false,
      },
    }
  })
}
