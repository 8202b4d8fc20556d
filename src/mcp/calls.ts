import { type McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { joinBytes, toJsonBytes, toQuotedBytes } from '../cache/shared-records.ts'
import { type AppError, toAppError } from '../errors.ts'
import { pointsOfCollections, pointsOfInput } from '../operations/core/cost-of-call.ts'
import type { Operation, ToolProfile } from '../operations/core/define-operation.ts'
import { splitHints } from '../operations/core/filter-hints.ts'
import type { ListFilter } from './connection.ts'
import { toProtocolError, toToolError } from './errors.ts'
import { describeMetaFault, isObject, type RequestMessage } from './messages.ts'
import { answerOnce } from './one-shot.ts'
import { type Binding, type Extras, MAX_ARGUMENTS, promptResult, renderedPrompt } from './server-factory.ts'
import { listResources } from './skills.ts'
import { selectTools, toToolInput, toToolText } from './tools.ts'

/** JSON in UTF-8, or as a text. */
type Json = Uint8Array | string
/** A result as JSON, in pieces. */
type Pieces = readonly Json[]

/** Answers requests of the 2025 versions that need no server of their own: without questions, streams or notifications. */
export interface Calls {
  /** The JSON-RPC response, as JSON. */
  answer(request: RequestMessage, binding: Binding): Promise<{ readonly json: Json; readonly isError: boolean }>
  /** Points a request takes from its caller's minute. @param filter of its connection */
  costOf(request: RequestMessage, filter: ListFilter): number
}

/** Methods that read what their connection is narrowed to. */
const NARROWED_METHOD = /^(prompts|resources|skills)\//
/** Points of these; those not named cost one. */
const COSTS: ReadonlyMap<string, number> = new Map([
  ['prompts/get', 2],
  ['prompts/list', 3],
  ['resources/list', 5],
  ['skills/list', 5],
])
/** What the SDK's answers to `ping`, `tools/list` and `initialize` depend on besides the method. */
const NO_BINDING: Binding = {
  invoke: async () => ({}),
  filter: {},
  onInternalError() {},
}

/**
 * Answers common requests from the operations, without the SDK's servers and schemas, which take ten times as long. Constant answers are
 * taken from the SDK once. The SDK also answers everything else: other methods, and invalid parameters.
 * @param extras tools and prompts that only the SDK's server knows; with them it answers everything
 */
export function createCalls(operations: readonly Operation[], buildServer: (binding: Binding) => McpServer, extras?: Extras): Calls {
  const tools = selectTools(operations)
  const allTools = selectTools(operations, 'chatgpt')
  const fixed = new Map<string, Promise<string>>()
  /** The SDK's own answer, cached. */
  const fromSdk = (key: string, method: string, params?: Record<string, unknown>, profile?: ToolProfile): Promise<string> => {
    const cached = fixed.get(key)
    if (cached) return cached
    const server = buildServer({ ...NO_BINDING, isWithoutSkills: method !== 'initialize', profile })
    const asking = answerOnce(server, { jsonrpc: '2.0', id: 1, method, ...(params && { params }) }).then((answer) =>
      JSON.stringify(answer && 'result' in answer ? answer.result : null),
    )
    fixed.set(key, asking)
    return asking
  }
  /** How a request is answered here; null for one the SDK answers. */
  const findResult = ({ method, params = {} }: RequestMessage): ((binding: Binding) => Promise<string | Pieces>) | null => {
    if (describeMetaFault(params) !== null) return null
    switch (method) {
      case 'ping':
        return () => fromSdk(method, method)
      case 'tools/list':
        return ({ profile }) => fromSdk(`${method} ${profile ?? ''}`, method, undefined, profile)
      case 'initialize': {
        const version = params['protocolVersion']
        if (!isInitialize(params) || !SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))) return null
        return () => fromSdk(`initialize ${version}`, method, { ...MINIMAL_INITIALIZE, protocolVersion: version })
      }
      case 'tools/call': {
        const { name, arguments: args = {} } = params
        const operation = typeof name === 'string' ? tools.get(name) : undefined
        return operation && isObject(args) ? (binding) => callTool(binding, operation, args) : null
      }
      case 'prompts/list': {
        const { cursor } = params
        return cursor === undefined || typeof cursor === 'string' ? (binding) => listPrompts(binding, cursor) : null
      }
      case 'prompts/get': {
        const { name, arguments: values = {} } = params
        return typeof name === 'string' && isTexts(values) ? (binding) => getPrompt(binding, name, values) : null
      }
      case 'resources/list':
        return params['cursor'] === undefined ? async ({ invoke, filter }) => JSON.stringify(await listResources(invoke, filter)) : null
      default:
        return null
    }
  }
  return {
    costOf({ method, params = {} }, filter) {
      if (NARROWED_METHOD.test(method)) return (COSTS.get(method) ?? 1) + pointsOfCollections(filter.collections)
      const { name, arguments: args } = params
      const tool = method === 'tools/call' && typeof name === 'string' ? allTools.get(name) : undefined
      return tool ? (tool.cost ?? 1) + (isObject(args) ? pointsOfInput(tool, args) : 0) : 1
    },
    async answer(request, binding) {
      const result = extras ? null : findResult(request)
      if (!result) {
        const answer = await answerOnce(buildServer(bindOnce(binding, request)), request)
        return { json: JSON.stringify(answer), isError: answer === null || 'error' in answer }
      }
      const id = JSON.stringify(request.id)
      try {
        const json = await result(binding)
        const tail = `,"jsonrpc":"2.0","id":${id}}`
        return { json: typeof json === 'string' ? `{"result":${json}${tail}` : joinBytes(['{"result":', ...json, tail]), isError: false }
      } catch (thrown) {
        const { code, message, data } = toProtocolError(toSeen(binding, thrown))
        return { json: `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`, isError: true }
      }
    },
  }
}

/** Part of the key of the answer to `initialize`, which depends on the version alone. */
const MINIMAL_INITIALIZE = { capabilities: {}, clientInfo: { name: 'any', version: '0' } }

/** Methods whose answer contains no skills or resources. */
const PLAIN_METHOD = /^(tools|prompts|completion)\/|^ping$/

/** The binding of one request: the arguments of a prompts/get as they came, and no more handlers than it needs. */
export function bindOnce(binding: Binding, { method, params }: RequestMessage): Binding {
  return {
    ...binding,
    ...(method === 'prompts/get' ? { rawArguments: params?.['arguments'] } : {}),
    isWithoutSkills: PLAIN_METHOD.test(method),
  }
}

/** The error for the caller; internal ones are also reported. */
function toSeen(binding: Binding, thrown: unknown): AppError {
  const error = toAppError(thrown)
  if (error.code === 'internal') binding.onInternalError(error)
  return error
}

function isInitialize({ capabilities, clientInfo }: Record<string, unknown>): boolean {
  return (
    isObject(capabilities) && isObject(clientInfo) && typeof clientInfo['name'] === 'string' && typeof clientInfo['version'] === 'string'
  )
}

function isTexts(values: unknown): values is Record<string, string> {
  if (!isObject(values)) return false
  const texts = Object.values(values)
  return texts.length <= MAX_ARGUMENTS && texts.every((text) => typeof text === 'string')
}

async function callTool(binding: Binding, operation: Operation, args: Record<string, unknown>): Promise<string | Pieces> {
  try {
    const result = await binding.invoke(
      operation.name,
      toToolInput(operation, args),
      operation.isStreamed ? { signal: binding.signal?.() } : undefined,
    )
    const { answer, hints } = splitHints(result)
    const beside = hints.map((text) => `,${JSON.stringify({ type: 'text', text })}`)
    if (operation.surfaces.mcp?.textOnly)
      return ['{"content":[{"type":"text","text":', JSON.stringify(toToolText(operation, answer)), '}', ...beside, ']}']
    const structured = [',"structuredContent":', ...toJsonBytes(answer)]
    return ['{"content":[{"type":"text","text":"', ...toQuotedBytes(answer), '"}', ...beside, ']', ...structured, '}']
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
