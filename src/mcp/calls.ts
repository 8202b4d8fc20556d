import { isJsonContentType, type McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type AppError, toAppError } from '../errors.ts'
import { parseJson } from '../library/json.ts'
import { joinBytes, toJsonBytes, toQuotedBytes } from '../library/shared-records.ts'
import type { Operation } from '../operations/define-operation.ts'
import { toProtocolError, toToolError } from './errors.ts'
import { takesJson, takesStream } from './messages.ts'
import { answerOnce } from './one-shot.ts'
import { type Binding, MAX_ARGUMENTS, promptResult, renderedPrompt } from './server-factory.ts'
import { selectTools } from './tools.ts'

/** Answers one plain call with JSON: a text, or its bytes. */
type LeanCall = (binding: Binding) => Promise<string | Uint8Array>
/** A result as JSON, in pieces. */
type Pieces = readonly (string | Uint8Array)[]

/** How a plain call is answered; null for everything that is not one. */
export type ReadLeanCall = (headers: ReadonlyMap<string, string>, body: string) => LeanCall | null

const KNOWN_KEYS = new Set(['jsonrpc', 'id', 'method', 'params'])
/** What is said of a request beside it, where it is nothing this lane would have to heed. */
const plainMeta = z.strictObject({ progressToken: z.union([z.string(), z.int()]).optional() }).optional()
const noParams = z.strictObject({ _meta: plainMeta }).optional()
const initializeParams = z.strictObject({
  protocolVersion: z.string().refine((version) => SUPPORTED_PROTOCOL_VERSIONS.includes(version)),
  capabilities: z.strictObject({
    roots: z.strictObject({ listChanged: z.boolean().optional() }).optional(),
    sampling: z.strictObject({}).optional(),
    elicitation: z.strictObject({}).optional(),
  }),
  clientInfo: z.strictObject({ name: z.string(), version: z.string(), title: z.string().optional() }),
})
const callParams = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional(), _meta: plainMeta })
const listParams = z.strictObject({ cursor: z.string().optional(), _meta: plainMeta }).optional()
const getParams = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.string()).optional(), _meta: plainMeta })

/** What the SDK's answers to these depend on, beside the method. */
const NO_BINDING: Binding = {
  invoke: async () => ({}),
  filter: {},
  onInternalError() {},
}

/**
 * Answers plain calls of clients without a session from the operations, without the SDK's servers and schemas, which take ten times as long.
 * What never differs is asked of the SDK once. Everything unusual is left to it: batches, sessions, streams, the 2026 revision, unknown methods and parameters.
 */
export function createLeanCalls(operations: readonly Operation[], buildServer: (binding: Binding) => McpServer): ReadLeanCall {
  const tools = selectTools(operations)
  const made = new Map<string, Promise<string>>()
  /** The SDK's own answer, asked for once. */
  const fromSdk = (key: string, method: string, params?: Record<string, unknown>): Promise<string> => {
    const known = made.get(key)
    if (known) return known
    const isWithoutSkills = method !== 'initialize'
    const asking = answerOnce(buildServer({ ...NO_BINDING, isWithoutSkills }), {
      jsonrpc: '2.0',
      id: 1,
      method,
      ...(params && { params }),
    }).then((answer) => JSON.stringify(answer && 'result' in answer ? answer.result : null))
    made.set(key, asking)
    return asking
  }

  const readCall = (method: string, params: unknown): ((binding: Binding) => Promise<string | Pieces>) | null => {
    switch (method) {
      case 'ping':
      case 'tools/list':
        return noParams.safeParse(params).success ? () => fromSdk(method, method) : null
      case 'initialize': {
        const asked = initializeParams.safeParse(params).data
        return asked ? () => fromSdk(`initialize ${asked.protocolVersion}`, method, asked) : null
      }
      case 'tools/call': {
        const asked = callParams.safeParse(params).data
        const operation = asked && tools.get(asked.name)
        return operation && !operation.isStreamed ? (binding) => callTool(binding, operation, asked.arguments ?? {}) : null
      }
      case 'prompts/list': {
        const asked = listParams.safeParse(params)
        return asked.success ? (binding) => listPrompts(binding, asked.data?.cursor) : null
      }
      case 'prompts/get': {
        const asked = getParams.safeParse(params).data
        return asked && Object.keys(asked.arguments ?? {}).length <= MAX_ARGUMENTS
          ? (binding) => getPrompt(binding, asked.name, asked.arguments ?? {})
          : null
      }
      default:
        return null
    }
  }

  return (headers, body) => {
    const accept = headers.get('accept') ?? null
    if (!isJsonContentType(headers.get('content-type') ?? null) || !takesJson(accept)) return null
    const version = headers.get('mcp-protocol-version')
    if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return null
    // A key of this name is lost on some ways through objects: the full lane takes care of it.
    if (body.includes('__proto__')) return null
    const parsed = parseJson(body)
    if (!parsed.ok || !isRequest(parsed.value)) return null
    const { id, method, params } = parsed.value
    // A client that takes a stream gets a session with its initialize.
    if (method === 'initialize' && takesStream(accept)) return null
    const call = readCall(method, params)
    if (!call) return null
    const idText = JSON.stringify(id)
    return async (binding) => {
      try {
        const result = await call(binding)
        const tail = `,"jsonrpc":"2.0","id":${idText}}`
        return typeof result === 'string' ? `{"result":${result}${tail}` : joinBytes(['{"result":', ...result, tail])
      } catch (thrown) {
        const { code, message, data } = toProtocolError(toSeen(binding, thrown))
        return `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify({ code, message, data })}}`
      }
    }
  }
}

/** A plain request of JSON-RPC: nothing beside what it must have, and an id that stays what it is. */
function isRequest(value: unknown): value is { id: string | number; method: string; params?: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (!Object.keys(value).every((key) => KNOWN_KEYS.has(key))) return false
  const { jsonrpc, id, method }: { jsonrpc?: unknown; id?: unknown; method?: unknown } = value
  return jsonrpc === '2.0' && typeof method === 'string' && (typeof id === 'string' || Number.isSafeInteger(id))
}

/** A fault as the caller hears it; what went wrong in here is told. */
function toSeen(binding: Binding, thrown: unknown): AppError {
  const known = toAppError(thrown)
  if (known.code === 'internal') binding.onInternalError(known)
  return known
}

async function callTool(binding: Binding, operation: Operation, args: Record<string, unknown>): Promise<string | Pieces> {
  try {
    const result = await binding.invoke(operation.name, args)
    const structured = operation.surfaces.mcp?.textOnly ? [] : [',"structuredContent":', ...toJsonBytes(result)]
    return ['{"content":[{"type":"text","text":"', ...toQuotedBytes(result), '"}]', ...structured, '}']
  } catch (thrown) {
    return JSON.stringify(toToolError(toSeen(binding, thrown)))
  }
}

async function listPrompts({ invoke, filter }: Binding, cursor: string | undefined): Promise<Pieces> {
  return toJsonBytes(await invoke('list_exposed_prompts', { ...filter, ...(cursor === undefined ? {} : { cursor }) }))
}

async function getPrompt({ invoke, filter }: Binding, name: string, values: Record<string, string>): Promise<string> {
  const prompt = renderedPrompt.parse(await invoke('render_exposed_prompt', { ...filter, name, arguments: values }))
  return JSON.stringify(promptResult(prompt))
}
