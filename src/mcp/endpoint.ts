import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  type McpServer,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { AppError, type ErrorCode } from '../errors.ts'
import type { Actor } from '../library/actor.ts'
import type { ItemKind } from '../library/items.ts'
import { parseJson } from '../library/json.ts'
import { createTally } from '../library/tally.ts'
import { toErrorBody } from './errors.ts'
import { idOf, initializeRequest, isMessage, requestMessage, takesJson, takesStream } from './messages.ts'
import { answerOnce } from './one-shot.ts'
import type { Binding, PromptFilter } from './server-factory.ts'
import { type Session, type SessionOwner, type Sessions, sessionNotFound } from './sessions.ts'
import { whenSent } from './stream-end.ts'

/** Most messages in one batch. */
const MAX_BATCH = 20
/** Length of a batch's answers together after which the rest is refused, in UTF-16 units. */
const MAX_BATCH_LENGTH = 16 * 1024 * 1024
/** Standing subscriptions open at once, of one caller and of all. */
const MAX_LISTENING_EACH = 50
const MAX_LISTENING = 5_000
/** The one protocol version that has batches; bare calls may send them too. */
const BATCH_VERSION = '2025-03-26'
const INVALID_REQUEST = -32600
const PARSE_ERROR = -32700
/** What clients know a lost session by (MCP SDKs use it with 404). */
const SESSION_NOT_FOUND = -32001
const NOT_A_MESSAGE = 'This is not a JSON-RPC 2.0 message: it needs jsonrpc "2.0", a method, and an id that is a text or a number.'

/** One request to the endpoint, its caller known. */
interface McpCall {
  readonly request: Request
  readonly binding: Binding
  readonly owner: SessionOwner
  readonly requestId: string
  /** Counts more requests of this caller: those of a batch. */
  readonly charge: (requests: number) => Promise<void>
}

/** The endpoint. GET and DELETE are for sessions alone; without one they are 405 before anybody asks who is calling. */
export interface McpEndpoint {
  post(call: McpCall & { readonly body: string }): Promise<Response>
  /** GET: the session's standing stream. DELETE: its end. */
  session(call: McpCall): Promise<Response>
  /** Tells clients that listen that the prompts or skills of these users, or public ones, changed. */
  notify(change: { readonly kind: ItemKind; readonly isPublic: boolean; readonly userIds: ReadonlySet<string> }): void
  /** Takes in what another instance wrote to this one. */
  receive(mail: string): void
  close(): Promise<void>
}

/** The header that names a session. */
export const SESSION_HEADER = 'mcp-session-id'

/** How a session's owner is written down: its user first, so that the user's changes can be told. */
export function sessionOwner(actor: Actor, address: string): SessionOwner {
  if (actor.kind === 'anonymous') return { owner: 'anonymous', quota: address }
  const owner = `user ${actor.userId} key ${actor.keyId ?? ''}`
  return { owner, quota: owner }
}

/**
 * Serves MCP over HTTP from one server factory: bare JSON-RPC, the 2025 versions with and without sessions, and the stateless 2026 revision.
 * @param options.alwaysStream hands every request of a session to its server: for extra tools that stream
 */
export function createMcpEndpoint(
  buildServer: (binding: Binding) => McpServer,
  sessions: Sessions,
  options: { alwaysStream: boolean } = { alwaysStream: false },
): McpEndpoint {
  const bindings = new WeakMap<Request, Binding>()
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const binding = requestInfo ? bindings.get(requestInfo) : undefined
      if (!binding) throw new AppError('internal', 'A request reached the MCP server without its caller')
      return buildServer(binding)
    },
    { legacy: 'reject', maxSubscriptions: MAX_LISTENING },
  )
  /** Open subscriptions by caller. */
  const listening = createTally()

  /** A message of a session: to its server when something may be streamed or is awaited there, else answered at once. */
  async function postToSession(session: Session, message: unknown, call: McpCall): Promise<Response> {
    const { request, binding, requestId } = call
    const asked = requestMessage.safeParse(message).data
    const isRequest = asked !== undefined
    // The SDK's transport knows whole numbers for ids only; others are answered at once.
    const isPlainId = typeof asked?.id !== 'number' || Number.isSafeInteger(asked.id)
    const needsServer = isRequest
      ? isPlainId && takesStream(request.headers.get('accept')) && (options.alwaysStream || (session.canAsk && mayAsk(message)))
      : session.isLive
    if (needsServer) return await nameErrors(await session.handle(withAccept(request), message, binding), requestId)
    if (!isRequest) return new Response(null, { status: 202 })
    const answer = await answerMessage(message, () => buildServer(forOneRequest(binding, message, request)), requestId)
    return answer ? reply(request, answer) : new Response(null, { status: 202 })
  }

  /** Answers the messages of a batch one after the other, as long as its client waits and the answers together stay within bounds. */
  async function answerBatch(messages: readonly unknown[], { request, binding, requestId }: McpCall): Promise<Response> {
    const answers: object[] = []
    let length = 0
    for (const message of messages) {
      if (request.signal.aborted) break
      const tooMuch = new AppError('too_large', 'The answers of this batch are too large together; ask for this one by itself.')
      const answer =
        length > MAX_BATCH_LENGTH && requestMessage.safeParse(message).success
          ? toErrorBody(tooMuch, requestId, idOf(message))
          : await answerMessage(message, () => buildServer(forOneRequest(binding, message, request)), requestId)
      if (!answer) continue
      length += JSON.stringify(answer).length
      answers.push(answer)
    }
    return answers.length === 0 ? new Response(null, { status: 202 }) : reply(request, answers)
  }

  /** Opens a standing subscription of the 2026 revision, of which one caller may hold a number. */
  async function listen(call: McpCall, message: unknown): Promise<Response> {
    const { quota } = call.owner
    const open = listening.of(quota)
    if (open >= MAX_LISTENING_EACH) {
      throw new AppError('rate_limited', `${open} subscriptions of yours are open already; close some.`, { retryAfterSeconds: 5 })
    }
    const ended = listening.add(quota)
    try {
      return whenSent(await modern.fetch(call.request, { parsedBody: message }), ended)
    } catch (error) {
      ended()
      throw error
    }
  }

  return {
    async post(call) {
      const { request, body, binding, owner, requestId } = call
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
      const isLegacyVersion = version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
      const sessionId = request.headers.get(SESSION_HEADER)
      const session = sessionId === null || !isLegacyVersion ? null : await sessions.find(sessionId, owner)
      if (sessionId !== null && isLegacyVersion && !session) return notFound(requestId, idOf(message))
      if (Array.isArray(message)) {
        if (version !== null && version !== BATCH_VERSION) return refuse(`Version ${version} has no batches; send one message at a time.`)
        if (message.length === 0 || message.length > MAX_BATCH) {
          return refuse(`A batch has 1 to ${MAX_BATCH} messages; this one has ${message.length}.`)
        }
        await call.charge(message.length - 1)
        return await answerBatch(message, call)
      }
      if (!isMessage(message)) return refuse(NOT_A_MESSAGE)
      if (!(await isLegacyRequest(request, withWholeId(message)))) {
        bindings.set(request, forOneRequest(binding, message, request))
        const isListening = requestMessage.safeParse(message).data?.method === 'subscriptions/listen'
        const response = isListening ? await listen(call, message) : await modern.fetch(request, { parsedBody: message })
        return await nameErrors(response, requestId)
      }
      if (!isLegacyVersion) return refuse(`MCP-Protocol-Version is not one served here: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`)
      const isInitialize = initializeRequest.safeParse(message).success
      if (session && !isInitialize) return await postToSession(session, message, call)
      const answer = await answerMessage(message, () => buildServer(forOneRequest(binding, message, request)), requestId)
      if (!answer) return new Response(null, { status: 202 })
      const response = reply(request, answer)
      if (isInitialize && 'result' in answer && takesStream(request.headers.get('accept'))) {
        const id = await sessions.open(message, owner)
        if (id !== null) response.headers.set(SESSION_HEADER, id)
      }
      return response
    },
    async session({ request, binding, owner, requestId }) {
      const session = await sessions.find(request.headers.get(SESSION_HEADER) ?? '', owner)
      if (!session) return notFound(requestId)
      if (request.method === 'DELETE') {
        await session.end()
        return new Response(null, { status: 200 })
      }
      return await nameErrors(await session.handle(request, undefined, binding), requestId)
    },
    notify({ kind, isPublic, userIds }) {
      sessions.notify(kind, (owner) => isPublic || userIds.has(owner.split(' ')[1] ?? ''))
      // Subscriptions of the 2026 revision are not told apart by caller, so they hear of what everybody may see.
      if (!isPublic) return
      if (kind === 'prompt') modern.notify.promptsChanged()
      else modern.notify.resourcesChanged()
    },
    receive: sessions.receive,
    async close() {
      await modern.close()
      await sessions.close()
    },
  }
}

/** A message as the SDK can classify it: it knows whole numbers for ids only. */
function withWholeId(message: unknown): unknown {
  const request = requestMessage.safeParse(message).data
  return request && typeof request.id === 'number' && !Number.isSafeInteger(request.id) ? { ...request, id: 1 } : message
}

/** Methods whose answer says nothing of skills or resources. */
const PLAIN_METHOD = /^(tools|prompts|completion)\/|^ping$/

/** The binding of one request: whether its client still waits, the arguments of a prompts/get as they came, and no more handlers than it needs. */
function forOneRequest(binding: Binding, message: unknown, { signal }: Request): Binding {
  const request = requestMessage.safeParse(message).data
  if (!request) return binding
  return {
    ...binding,
    signal,
    ...(request.method === 'prompts/get' ? { rawArguments: request.params?.['arguments'] } : {}),
    isWithoutSkills: PLAIN_METHOD.test(request.method),
  }
}

/** Whether answering a request may first take a question to the user. */
function mayAsk(message: unknown): boolean {
  const request = requestMessage.safeParse(message).data
  if (request?.method === 'prompts/get') return true
  return request?.method === 'tools/call' && request.params?.['name'] === 'get_prompt'
}

/** The request as the session's transport wants it: its body is read already, and a client that takes a stream takes JSON too. */
function withAccept(request: Request): Request {
  const headers = new Headers(request.headers)
  headers.set('accept', 'application/json, text/event-stream')
  return new Request(request.url, { method: request.method, headers, signal: request.signal })
}

function notFound(requestId: string, id: string | number | null = null): Response {
  return Response.json(toErrorBody(sessionNotFound(), requestId, id, SESSION_NOT_FOUND), { status: 404 })
}

/** What the SDK's own statuses mean in our codes, where it is not plain bad input. */
const STATUS_CODES: Partial<Record<number, ErrorCode>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'too_large',
  415: 'unsupported_media_type',
}

const errorBody = z.looseObject({ error: z.looseObject({ data: z.looseObject({}).optional() }) })

/** The SDK's own refusals, with the code and request id that every answer which is not 2xx carries here. */
async function nameErrors(response: Response, requestId: string): Promise<Response> {
  if (response.ok || !isJsonContentType(response.headers.get('content-type'))) return response
  const body = errorBody.safeParse(await response.json())
  const code = STATUS_CODES[response.status] ?? (response.status >= 500 ? 'internal' : 'invalid_input')
  if (!body.success)
    return Response.json(toErrorBody(new AppError(code, 'The request was refused.'), requestId), { status: response.status })
  const data = { ...body.data.error.data, code, requestId }
  return Response.json({ ...body.data, error: { ...body.data.error, data } }, { status: response.status })
}

/** Has one message answered; null for notifications and responses, which get no answer. What is no message gets its error. */
async function answerMessage(value: unknown, buildServer: () => McpServer, requestId: string): Promise<object | null> {
  const request = requestMessage.safeParse(value)
  if (request.success) return await answerOnce(buildServer(), request.data)
  if (isMessage(value)) return null
  return toErrorBody(new AppError('invalid_input', NOT_A_MESSAGE), requestId, idOf(value), INVALID_REQUEST)
}

/** One JSON body, unless the client accepts nothing but a stream. */
function reply(request: Request, body: unknown): Response {
  const accept = request.headers.get('accept')
  if (takesJson(accept) || !takesStream(accept)) return Response.json(body)
  const messages = Array.isArray(body) ? body : [body]
  const events = messages.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join('')
  return new Response(events, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } })
}

/** The prompts a URL asks for: comma-separated values of `users`, `categories` and `tags`; an empty parameter counts as absent. */
export function readPromptFilter(query: URLSearchParams): PromptFilter {
  const values = (name: string) =>
    query
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
