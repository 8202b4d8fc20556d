import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { parseJson } from '../library/json.ts'
import { toErrorBody } from './errors.ts'
import { answerOnce } from './one-shot.ts'
import type { Binding, PromptFilter } from './server-factory.ts'

/** Most messages in one batch. */
const MAX_BATCH = 20
/** The one protocol version that has batches; bare calls may send them too. */
const BATCH_VERSION = '2025-03-26'
const INVALID_REQUEST = -32600
const PARSE_ERROR = -32700
const NOT_A_MESSAGE = 'This is not a JSON-RPC 2.0 message: it needs jsonrpc "2.0", a method, and an id that is a text or a whole number.'

const messageId = z.union([z.string(), z.number().int()])
const requestMessage = z.object({
  jsonrpc: z.literal('2.0'),
  id: messageId,
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
})
const notificationMessage = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
})
const responseMessage = z.object({ jsonrpc: z.literal('2.0'), id: messageId, method: z.undefined() })

/** One POST to the endpoint, its body read and its caller known. */
interface McpCall {
  readonly request: Request
  readonly body: string
  readonly binding: Binding
  readonly requestId: string
}

/** The endpoint: `post` answers one POST; everything else on the path is 405 before anybody asks who is calling. */
export interface McpEndpoint {
  post(call: McpCall): Promise<Response>
  close(): Promise<void>
}

/** Serves MCP over HTTP: bare JSON-RPC and the 2025 versions without sessions, and the stateless 2026 revision, from one server factory. */
export function createMcpEndpoint(buildServer: (binding: Binding) => Server): McpEndpoint {
  const bindings = new WeakMap<Request, Binding>()
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const binding = requestInfo ? bindings.get(requestInfo) : undefined
      if (!binding) throw new AppError('internal', 'A request reached the MCP server without its caller')
      return buildServer(binding)
    },
    { legacy: 'reject' },
  )
  return {
    async post({ request, body, binding, requestId }) {
      if (!isJsonContentType(request.headers.get('content-type'))) {
        const error = new AppError('unsupported_media_type', 'Send JSON-RPC with Content-Type: application/json.')
        return Response.json(toErrorBody(error, requestId), { status: 415 })
      }
      const parsed = parseJson(body)
      const refuse = (reason: string, code = INVALID_REQUEST) =>
        Response.json(toErrorBody(new AppError('invalid_input', reason), requestId, parsed.ok ? idOf(parsed.value) : null, code), {
          status: 400,
        })
      if (!parsed.ok) return refuse(parsed.reason, PARSE_ERROR)
      const message = parsed.value
      const version = request.headers.get('mcp-protocol-version')
      if (Array.isArray(message)) {
        if (version !== null && version !== BATCH_VERSION) return refuse(`Version ${version} has no batches; send one message at a time.`)
        if (message.length === 0 || message.length > MAX_BATCH) {
          return refuse(`A batch has 1 to ${MAX_BATCH} messages; this one has ${message.length}.`)
        }
        const answers: object[] = []
        for (const one of message) {
          const answer = await answerMessage(one, () => buildServer(binding), requestId)
          if (answer) answers.push(answer)
        }
        return answers.length === 0 ? new Response(null, { status: 202 }) : reply(request, answers)
      }
      if (!isMessage(message)) return refuse(NOT_A_MESSAGE)
      if (!(await isLegacyRequest(request, message))) {
        bindings.set(request, binding)
        return await nameErrors(await modern.fetch(request, { parsedBody: message }), requestId)
      }
      if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
        return refuse(`MCP-Protocol-Version is not one served here: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`)
      }
      const answer = await answerMessage(message, () => buildServer(binding), requestId)
      return answer ? reply(request, answer) : new Response(null, { status: 202 })
    },
    close: () => modern.close(),
  }
}

const errorBody = z.looseObject({ error: z.looseObject({ data: z.looseObject({}).optional() }) })

/** The SDK's own refusals, with the code and request id that every answer which is not 2xx carries here. */
async function nameErrors(response: Response, requestId: string): Promise<Response> {
  if (response.ok || !isJsonContentType(response.headers.get('content-type'))) return response
  const body = errorBody.safeParse(await response.json())
  const code = response.status >= 500 ? 'internal' : 'invalid_input'
  if (!body.success)
    return Response.json(toErrorBody(new AppError(code, 'The request was refused.'), requestId), { status: response.status })
  const data = { ...body.data.error.data, code, requestId }
  return Response.json({ ...body.data, error: { ...body.data.error, data } }, { status: response.status })
}

/** Has one message answered; null for notifications and responses, which get no answer. What is no message gets its error. */
async function answerMessage(value: unknown, buildServer: () => Server, requestId: string): Promise<object | null> {
  const request = requestMessage.safeParse(value)
  if (request.success) return await answerOnce(buildServer(), request.data)
  if (isMessage(value)) return null
  return toErrorBody(new AppError('invalid_input', NOT_A_MESSAGE), requestId, idOf(value), INVALID_REQUEST)
}

/** Whether a value is a JSON-RPC message at all: a request, a notification, or a response. */
function isMessage(value: unknown): boolean {
  if (requestMessage.safeParse(value).success || responseMessage.safeParse(value).success) return true
  return notificationMessage.safeParse(value).success && !hasId(value)
}

function hasId(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'id' in value
}

function idOf(value: unknown): string | number | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null
  return messageId.safeParse(value.id).data ?? null
}

/** One JSON body, unless the client accepts nothing but a stream. */
function reply(request: Request, body: unknown): Response {
  const accept = request.headers.get('accept')
  const takesJson = !accept || accept.split(',').some((range) => /^\s*(\*\/\*|application\/(\*|json))\s*(;|$)/i.test(range))
  if (takesJson || !/text\/event-stream/i.test(accept)) return Response.json(body)
  const messages = Array.isArray(body) ? body : [body]
  const events = messages.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join('')
  return new Response(events, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } })
}

/** The prompts a URL asks for: comma-separated values of `users`, `categories` and `tags`; an empty parameter counts as absent. */
export function readPromptFilter(url: URL): PromptFilter {
  const values = (name: string) =>
    url.searchParams
      .getAll(name)
      .flatMap((text) => text.split(','))
      .map((value) => value.trim())
      .filter((value) => value !== '')
  const users = values('users')
  const categories = values('categories')
  const tags = values('tags')
  return {
    ...(users.length > 0 ? { users } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(tags.length > 0 ? { tags } : {}),
  }
}
