import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isObject } from '../domain/text/json.ts'
import { type AppError, type ErrorCode, toAppError } from '../errors.ts'
import type { ToolProfile } from '../operations/core/define-operation.ts'

const messageId = z.union([z.string(), z.number()])

/** A JSON-RPC 2.0 request (jsonrpc.org/specification): its id is a text or a number, never null. */
export interface RequestMessage {
  readonly jsonrpc: '2.0'
  readonly id: string | number
  readonly method: string
  readonly params?: Record<string, unknown> | undefined
}

/** A value as a request; null when it is none. Nothing is copied, so members such as `__proto__` survive. */
export function asRequest(value: unknown): RequestMessage | null {
  if (!isObject(value)) return null
  const { jsonrpc, id, method, params } = value
  if (jsonrpc !== '2.0' || !isId(id) || typeof method !== 'string' || (params !== undefined && !isObject(params))) return null
  return { jsonrpc, id, method, params }
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isFinite(id)
}

/** The notification of a client that no longer wants an answer. */
export const cancelledNotification = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId: messageId }),
})

/** The parts of `initialize` that matter here. */
export const initializeRequest = z.object({
  method: z.literal('initialize'),
  params: z.looseObject({
    protocolVersion: z.string(),
    capabilities: z.looseObject({ elicitation: z.looseObject({}).optional() }).default({}),
  }),
})

/** Whether a value is a JSON-RPC message at all: a request, a notification, or a response. */
export function isMessage(value: unknown): boolean {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false
  const { id, method, params } = value
  if (method === undefined) return isId(id) && ('result' in value || 'error' in value)
  return typeof method === 'string' && (params === undefined || isObject(params)) && (isId(id) || !('id' in value))
}

/** Why a value is not a supported JSON-RPC message: a sentence that names the invalid member. */
export function describeFault(value: unknown): string {
  const start = 'This is not a JSON-RPC 2.0 message:'
  if (!isObject(value)) return `${start} it must be an object.`
  const { jsonrpc, method } = value
  if (jsonrpc !== '2.0') return `${start} jsonrpc must be "2.0".`
  if ('id' in value && !isId(value['id'])) return `${start} id must be a string or a number.`
  if (method === undefined) return `${start} method is required.`
  if (typeof method !== 'string') return `${start} method must be a string.`
  return `${start} params must be an object.`
}

/** The fault of `_meta`, which any message may have; null when it is valid. */
export function describeMetaFault(params: Readonly<Record<string, unknown>> | undefined): string | null {
  const meta = params?.['_meta']
  if (meta === undefined) return null
  if (!isObject(meta)) return 'params._meta must be an object.'
  const token = meta['progressToken']
  const isToken = token === undefined || typeof token === 'string' || Number.isSafeInteger(token)
  return isToken ? null : 'params._meta.progressToken must be a string or an integer.'
}

const rpcError = z.object({ code: z.number().int(), message: z.string() })

/** A response in the SDK's form. A malformed one becomes an error, so that nobody waits for another answer. */
export function toResponse(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { id, result, error } = value
  if (isObject(result) && error === undefined) return { jsonrpc: '2.0', id, result }
  const rpc = rpcError.safeParse(error).data
  return { jsonrpc: '2.0', id, error: rpc ?? { code: -32603, message: 'The response is not valid.' } }
}

/** The id an answer to `value` carries; null where none can be read. */
export function idOf(value: unknown): string | number | null {
  return isObject(value) && isId(value['id']) ? value['id'] : null
}

/** Whether a client accepts an event stream. */
export function takesStream(accept: string | undefined): boolean {
  return /text\/event-stream/i.test(accept ?? '')
}

/** Whether a client accepts JSON; without an Accept header it does. */
export function takesJson(accept: string | undefined): boolean {
  return !accept || accept.split(',').some((range) => /^\s*(\*\/\*|application\/(\*|json))\s*(;|$)/i.test(range))
}

/** JSON-RPC codes (jsonrpc.org/specification#error_object): bad parameters, and internal error. */
const JSON_RPC_CODES: Partial<Record<ErrorCode, number>> = { invalid_input: -32602, not_found: -32602, internal: -32603 }
/** The code of the server's own errors. */
const SERVER_ERROR = -32000

/** The JSON-RPC error a client of prompts/list or prompts/get sees. */
export function toProtocolError(error: AppError): ProtocolError {
  return new ProtocolError(JSON_RPC_CODES[error.code] ?? SERVER_ERROR, error.message, { code: error.code })
}

/** A failed tool call as the model sees it: a sentence to read and a code to act on. */
export function toToolError(error: AppError): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify({ error: error.message, code: error.code }) }], isError: true }
}

/** The body of an answer that is not 2xx: a JSON-RPC error, with the request's id when it was read. */
export function toErrorBody(
  error: unknown,
  requestId: string,
  id: string | number | null = null,
  code?: number,
): { jsonrpc: '2.0'; id: string | number | null; error: { code: number; message: string; data: { code: ErrorCode; requestId: string } } } {
  const shown = toAppError(error)
  return {
    jsonrpc: '2.0',
    id,
    error: { code: code ?? JSON_RPC_CODES[shown.code] ?? SERVER_ERROR, message: shown.message, data: { code: shown.code, requestId } },
  }
}

/** A filter of the prompts and skills a connection lists (the URL's `users`, `collections`, `categories`, `tags`). */
export interface ListFilter {
  readonly users?: readonly string[]
  readonly collections?: readonly string[]
  readonly categories?: readonly string[]
  readonly tags?: readonly string[]
}

/**
 * The lists that the address of a connection asks for: comma-separated values of `users`, `collections`, `categories` and `tags`, where an empty parameter counts as
 * absent and a part of the path wins, and `profile`.
 */
export function readConnection(
  search: string,
  params: Readonly<Record<string, string>>,
): { readonly filter: ListFilter; readonly profile?: ToolProfile } {
  const query = new URLSearchParams(search)
  const read = (name: keyof ListFilter, given: string | undefined): ListFilter => {
    const texts = query.getAll(name).flatMap((text) => text.split(','))
    const values = given === undefined ? texts.map((text) => text.trim()).filter((text) => text !== '') : [given]
    return values.length > 0 ? { [name]: values } : {}
  }
  const { user, collected, category, tag } = params
  return {
    filter: { ...read('users', user), ...read('collections', collected), ...read('categories', category), ...read('tags', tag) },
    ...(query.get('profile') === 'chatgpt' ? { profile: 'chatgpt' } : {}),
  }
}
