import type { JSONRPCMessage, McpServer, Tool, Transport } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { escapeControlsInJson } from '../domain/text/characters.ts'
import type { Operation, ToolProfile } from '../operations/core/define-operation.ts'
import { toJsonSchema } from '../operations/core/describe-inputs.ts'

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

const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

const errorAnswer = z.looseObject({ error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }) })
const issues = z
  .array(z.object({ path: z.array(z.union([z.string(), z.number()])), expected: z.string().optional(), message: z.string() }))
  .min(1)
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['array', 'an array'],
])

/** Rewrites the SDK's errors: one sentence about the first fault instead of the validator's output, and always a code. */
function tidyError(answer: object, method: string): object {
  const failed = errorAnswer.safeParse(answer).data
  if (!failed) return answer
  const { code, message, data } = failed.error
  if (code === METHOD_NOT_FOUND) {
    return { ...failed, error: { code, message: `Unknown method "${method.slice(0, 80)}".`, data: { code: 'not_found' } } }
  }
  const start = message.indexOf('[')
  const first = start === -1 ? undefined : readIssues(message.slice(start))
  if (first) return { ...failed, error: { code: INVALID_PARAMS, message: describeIssue(first), data: { code: 'invalid_input' } } }
  // The skills extension puts validator output into its message.
  const [, place, expected] = /: (\S+): Invalid input: expected (\w+), received \w+/.exec(message) ?? []
  if (place !== undefined) {
    const issue = { path: ['params', place], expected, message: message.endsWith('received undefined') ? message : '' }
    return { ...failed, error: { code: INVALID_PARAMS, message: describeIssue(issue), data: { code: 'invalid_input' } } }
  }
  if (typeof data === 'object' && data !== null && 'code' in data) return answer
  return { ...failed, error: { code, message, data: { ...Object(data), code: code === INTERNAL_ERROR ? 'internal' : 'invalid_input' } } }
}

function describeIssue({ path, expected, message }: { path: (string | number)[]; expected?: string | undefined; message: string }): string {
  const place = path.join('.') || 'params'
  if (message.endsWith('received undefined')) return `${place} is required.`
  const type = TYPE_NAMES.get(expected ?? '')
  return type === undefined ? `${place} is not valid.` : `${place} must be ${type}.`
}

function readIssues(text: string): z.infer<typeof issues>[number] | undefined {
  try {
    return issues.safeParse(JSON.parse(text)).data?.[0]
  } catch {
    return undefined
  }
}

/** Most unanswered requests whose method is stored. */
const MAX_ASKED = 1_000

/** Rewrites a server's errors on any transport it connects to. */
export function tidyErrors(mcp: McpServer): McpServer {
  const connect = mcp.server.connect.bind(mcp.server)
  mcp.server.connect = async (transport: Transport) => {
    const methods = new Map<string | number, string>()
    const send = transport.send.bind(transport)
    transport.send = async (message, options) => await send(tidy(message, methods), options)
    await connect(transport)
    const receive = transport.onmessage
    transport.onmessage = (message: JSONRPCMessage, ...more) => {
      if ('method' in message && 'id' in message && methods.size < MAX_ASKED) methods.set(message.id, message.method)
      receive?.call(transport, message, ...more)
    }
  }
  return mcp
}

function tidy(message: JSONRPCMessage, methods: Map<string | number, string>): JSONRPCMessage {
  if (!('id' in message) || message.id === undefined || 'method' in message) return message
  const method = methods.get(message.id) ?? ''
  methods.delete(message.id)
  return 'error' in message ? (tidyError(message, method) as JSONRPCMessage) : message
}
