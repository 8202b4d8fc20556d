import { createMcpHandler, isJsonContentType, isLegacyRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { joinBytes } from '../cache/answer-cache.ts'
import type { ItemKind } from '../domain/items/items.ts'
import { type ListAudience, standingOf } from '../domain/items/visibility.ts'
import { type Actor, withinOf } from '../domain/people/actor.ts'
import { createTally } from '../domain/service/running-work.ts'
import { isObject, parseJson } from '../domain/text/json.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import { type Answer, type Exchange, jsonAnswer } from '../exchange.ts'
import { type Binding, bindOnce, type Dispatcher } from './dispatcher.ts'
import {
  asRequest,
  describeFault,
  idOf,
  initializeRequest,
  isMessage,
  type RequestMessage,
  takesJson,
  takesStream,
  toErrorBody,
  toResponse,
} from './messages.ts'
import { whenSent } from './sessions/session-streams.ts'
import { type Session, type SessionOwner, type Sessions, sessionNotFound } from './sessions/sessions.ts'

/** Most messages in one batch. */
const MAX_BATCH = 20
/** Total size of a batch's answers in bytes, after which the rest is refused. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024
/** Standing subscriptions open at once, of one caller and of all. */
const MAX_LISTENING_EACH = 50
const MAX_LISTENING = 5_000
/** Supported protocol versions. The oldest one of the SDK was never released. */
const SERVED_VERSIONS = [...SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version >= '2024-11-05').toSorted(), '2026-07-28']
/** The one protocol version that has batches; bare calls may send them too. */
const BATCH_VERSION = '2025-03-26'
const INVALID_REQUEST = -32600
const PARSE_ERROR = -32700
/** The code by which clients recognise a lost session (MCP SDKs use it with 404). */
const SESSION_NOT_FOUND = -32001
/** Least points of a message in a batch when turns are assigned, so that expensive batches wait. */
const BATCHED_COST = 5
/** Points of ending a session beyond the first: it writes a row. */
const END_COST = 4
const ACCEPTED: Answer = { status: 202, headers: {}, body: null }
/** Headers of a request that the SDK looks at. */
const SDK_HEADERS = ['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id']
/** Prefix of the `_meta` keys of the 2026 revision. */
const ENVELOPE_PREFIX = 'io.modelcontextprotocol/'

/** An authenticated request to the endpoint. */
interface McpCall {
  readonly exchange: Exchange
  readonly binding: Binding
  readonly owner: SessionOwner
  readonly requestId: string
  /** Counts more points for this caller: those beyond the first. */
  readonly charge: (points: number) => Promise<void>
  /** Waits for the caller's turn before work of this cost; null when it may go on at once. */
  readonly takeTurn: (cost: number) => Promise<void> | null
  /** Refuses a tool that the caller's program was not given the permission for. */
  readonly refuseTool: (name: unknown) => Answer | null
}

/** The header that names a session. */
const SESSION_HEADER = 'mcp-session-id'

/** POST is always a call; GET and DELETE only with a session. Everything else is 405, before authentication. */
export function isMcpCall({ method, header }: Exchange): boolean {
  return method === 'POST' || ((method === 'GET' || method === 'DELETE') && header(SESSION_HEADER) !== undefined)
}

/** Ends the owner of a session whose key may not read. */
const WITHOUT_READ = 'write-only'

/** Stands before the team, or the collections, that the key of a session's owner is narrowed to. */
const WITHIN = 'within '

/**
 * The stored form of a session's owner: its user first, so that the user's changes can be announced. A program gets another key each time it
 * asks for more permissions, so its session is that of the person and the program (see {@link isSameOwner}).
 */
export function sessionOwner(actor: Actor, address: string): SessionOwner {
  if (actor.kind === 'anonymous') return { owner: 'anonymous', quota: address }
  const key = `user ${actor.userId} key ${actor.keyId ?? ''}`
  const program = actor.clientId === undefined ? '' : ` program ${encodeURIComponent(actor.clientId)}`
  const within = withinOf(actor)
  const narrowed = within === null ? '' : ` ${WITHIN}${'team' in within ? within.team : within.collections.join()}`
  return { owner: `${key}${program}${narrowed}${standingOf(actor) === 'member' ? '' : ` ${WITHOUT_READ}`}`, quota: key }
}

/** The endpoint. GET and DELETE are for sessions only; without one they are 405, before authentication. */
export type McpEndpoint = ReturnType<typeof createMcpEndpoint>

/**
 * Serves MCP over HTTP: bare JSON-RPC, the 2025 versions with and without sessions, and the stateless 2026 revision.
 * @param options.alwaysStream hands every request of a session to its server: for extra tools that stream
 */
export function createMcpEndpoint(
  dispatcher: Dispatcher,
  sessions: Sessions,
  options: { alwaysStream: boolean } = { alwaysStream: false },
) {
  const bindings = new WeakMap<Request, Binding>()
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const binding = requestInfo ? bindings.get(requestInfo) : undefined
      if (!binding) throw new AppError('internal', 'A request reached the MCP server without its caller')
      return dispatcher.buildServer(binding)
    },
    { legacy: 'reject', maxSubscriptions: MAX_LISTENING },
  )
  /** Open subscriptions by caller. */
  const listening = createTally()

  /** A message of a session: passed to its server when something may be streamed or is awaited there, otherwise answered at once. */
  async function postToSession(session: Session, sent: unknown, call: McpCall): Promise<Answer> {
    const { exchange, binding, requestId } = call
    const asked = asRequest(sent)
    const message = isObject(sent) && !('method' in sent) ? toResponse(sent) : sent
    // The SDK's transport accepts only integers as numeric ids; others are answered at once.
    const isPlainId = typeof asked?.id !== 'number' || Number.isSafeInteger(asked.id)
    const needsServer = asked
      ? isPlainId && takesStream(exchange.header('accept')) && (options.alwaysStream || (session.canAsk && mayAsk(asked)))
      : session.isLive
    if (needsServer) {
      const request = toRequest(exchange, { accept: 'application/json, text/event-stream' })
      return await nameErrors(await session.handle(request, message, binding), requestId)
    }
    if (asked) return reply(exchange, (await dispatcher.answer(asked, binding)).json)
    // An answer of the user that no question here waits for: the process that asked has stopped, or is another one.
    if (!isObject(message) || 'method' in message) return ACCEPTED
    const gone = new AppError('not_found', 'No question of this session is open in this process. Ask again.')
    return jsonAnswer(toErrorBody(gone, requestId, idOf(message)), 404)
  }

  /** Answers the messages of a batch in order, while the client waits and the answers stay within bounds. */
  async function answerBatch(messages: readonly unknown[], { exchange, binding, requestId, takeTurn }: McpCall): Promise<Answer> {
    const answers: (Uint8Array | string)[] = []
    const refuse = (error: AppError, id: string | number | null, code?: number) => JSON.stringify(toErrorBody(error, requestId, id, code))
    let bytes = 0
    let isFull = false
    for (const message of messages) {
      const request = asRequest(message)
      // Cheap messages add up: a batch always yields in between.
      await takeTurn(Math.max(BATCHED_COST, request ? dispatcher.costOf(request, binding.filter) : 1))
      if (exchange.hasLeft()) break
      if (!request && isMessage(message)) continue
      if (!request) {
        answers.push(refuse(new AppError('invalid_input', describeFault(message)), idOf(message), INVALID_REQUEST))
        continue
      }
      const answer = isFull ? null : (await dispatcher.answer(request, binding)).json
      if (answer && bytes + Buffer.byteLength(answer) <= MAX_BATCH_BYTES) {
        bytes += Buffer.byteLength(answer)
        answers.push(answer)
      } else {
        isFull = true
        const tooMuch = new AppError('too_large', 'The responses of this batch are too large in total; send this request separately.')
        answers.push(refuse(tooMuch, request.id))
      }
    }
    return answers.length === 0 ? ACCEPTED : reply(exchange, answers)
  }

  /** Opens a standing subscription of the 2026 revision, limited for each caller. */
  async function listen(call: McpCall, request: Request, message: unknown): Promise<Response> {
    const { quota } = call.owner
    const open = listening.of(quota)
    if (open >= MAX_LISTENING_EACH) {
      throw new AppError('rate_limited', `You already have ${open} open subscriptions. Close some first.`, { retryAfterSeconds: 5 })
    }
    const release = listening.add(quota)
    const over = new AbortController()
    const unwatch = sessions.watch(call.owner.owner, () => over.abort(new Error('The key of this subscription is no longer valid')))
    const ended = () => {
      release()
      unwatch()
    }
    try {
      return whenSent(await modern.fetch(request, { parsedBody: message }), ended, over.signal)
    } catch (error) {
      ended()
      throw error
    }
  }

  /** A message of the 2026 revision. */
  async function postModern(call: McpCall, request: Request, message: unknown): Promise<Answer> {
    const asked = asRequest(message)
    bindings.set(request, asked ? bindOnce(call.binding, asked) : call.binding)
    const isListening = asked?.method === 'subscriptions/listen'
    const response = isListening ? await listen(call, request, message) : await modern.fetch(request, { parsedBody: message })
    return await nameErrors(response, call.requestId)
  }

  return {
    async post(call: McpCall, body: string): Promise<Answer> {
      const { exchange, binding, owner, requestId } = call
      if (!isJsonContentType(exchange.header('content-type') ?? null)) {
        const error = new AppError('unsupported_media_type', 'Send JSON-RPC with Content-Type: application/json.')
        return jsonAnswer(toErrorBody(error, requestId), 415)
      }
      const parsed = parseJson(body)
      const refuse = (reason: string, code = INVALID_REQUEST) =>
        jsonAnswer(toErrorBody(new AppError('invalid_input', reason), requestId, parsed.ok ? idOf(parsed.value) : null, code), 400)
      if (!parsed.ok) return refuse(parsed.reason, PARSE_ERROR)
      const message = parsed.value
      const version = exchange.header('mcp-protocol-version')
      const isLegacyVersion = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
      const sessionId = exchange.header(SESSION_HEADER)
      const session = sessionId === undefined || !isLegacyVersion ? null : await sessions.find(sessionId, owner)
      if (sessionId !== undefined && isLegacyVersion && !session) return notFound(requestId, idOf(message))
      if (Array.isArray(message)) {
        if (version !== undefined && version !== BATCH_VERSION)
          return refuse(`Version ${version} has no batches; send one message at a time.`)
        if (message.length === 0 || message.length > MAX_BATCH) {
          return refuse(`A batch has 1 to ${MAX_BATCH} messages; this one has ${message.length}.`)
        }
        const points = message
          .map(asRequest)
          .reduce((sum, request) => sum + (request ? dispatcher.costOf(request, call.binding.filter) : 1), 0)
        await call.charge(points - 1)
        return await answerBatch(message, call)
      }
      if (!isMessage(message)) return refuse(describeFault(message))
      const asked = asRequest(message)
      const refusal = asked?.method === 'tools/call' ? call.refuseTool(asked.params?.['name']) : null
      if (refusal) return refusal
      const cost = asked ? dispatcher.costOf(asked, call.binding.filter) : 1
      if (cost > 1) await payAndWait(call, cost)
      if (!isLegacyVersion || hasEnvelope(message)) {
        const request = toRequest(exchange)
        if (!(await isLegacyRequest(request, withWholeId(message)))) return await postModern(call, request, message)
      }
      if (!isLegacyVersion) {
        return refuse(`MCP-Protocol-Version "${version.slice(0, 80)}" is not supported. Supported: ${SERVED_VERSIONS.join(', ')}.`)
      }
      const isInitialize = asked?.method === 'initialize'
      if (session && !isInitialize) return await postToSession(session, message, call)
      if (!asked) return ACCEPTED
      const { json, isError } = await dispatcher.answer(asked, binding)
      const answer = reply(exchange, json)
      if (isInitialize && !isError && takesStream(exchange.header('accept')) && initializeRequest.safeParse(message).success) {
        const id = sessions.open(message, owner)
        if (id !== null) answer.headers[SESSION_HEADER] = id
      }
      return answer
    },
    /** GET: the session's standing stream. DELETE: its end. */
    async session({ exchange, binding, owner, requestId, charge }: McpCall): Promise<Answer> {
      const session = await sessions.find(exchange.header(SESSION_HEADER) ?? '', owner)
      if (!session) return notFound(requestId)
      if (exchange.method === 'DELETE') {
        await charge(END_COST)
        await session.end()
        return { status: 200, headers: {}, body: null }
      }
      return await nameErrors(await session.handle(toRequest(exchange), undefined, binding), requestId)
    },
    /** Notifies clients that the prompts or skills of these users, or public ones, changed. */
    notify(change: { readonly kind: ItemKind; readonly audience: ListAudience; readonly userIds: ReadonlySet<string> }) {
      const { kind, audience, userIds } = change
      const concerns = (owner: string): boolean => {
        const userId = owner.split(' ')[1]
        const team = owner.split(` ${WITHIN}`)[1]?.split(' ')[0]
        if (team !== undefined && !userIds.has(team)) return false
        if (audience === 'everybody' || userId === undefined || owner.endsWith(` ${WITHOUT_READ}`)) return audience === 'everybody'
        return audience === 'members' || userIds.has(userId)
      }
      void sessions.notify(kind, concerns).catch(() => {})
      // Subscriptions of the 2026 revision are not separated by caller, so they hear only of public changes.
      if (audience !== 'everybody') return
      if (kind === 'prompt') modern.notify.promptsChanged()
      else modern.notify.resourcesChanged()
    },
    /** Drops the answers stored for clients that reconnect. */
    forgetAnswers: sessions.forgetAnswers,
    async close() {
      await modern.close()
      await sessions.close()
    },
  }
}

/** Charges the cost of a request beyond the first point, and waits for its turn. */
async function payAndWait({ charge, takeTurn }: McpCall, cost: number): Promise<void> {
  await charge(cost - 1)
  await takeTurn(cost)
}

/** Whether a message may be of the 2026 revision: it has its envelope. */
function hasEnvelope(message: unknown): boolean {
  const params = isObject(message) ? message['params'] : undefined
  const meta = isObject(params) ? params['_meta'] : undefined
  return isObject(meta) && Object.keys(meta).some((key) => key.startsWith(ENVELOPE_PREFIX))
}

/** A message the SDK can classify: it accepts only integers as numeric ids. */
function withWholeId(message: unknown): unknown {
  const request = asRequest(message)
  return request && typeof request.id === 'number' && !Number.isSafeInteger(request.id) ? { ...request, id: 1 } : message
}

/** Whether a request may need a question to the user first. */
function mayAsk({ method, params }: RequestMessage): boolean {
  return method === 'prompts/get' || (method === 'tools/call' && params?.['name'] === 'get_prompt')
}

/** A request for the SDK's transports, some of its headers replaced. Its body is left out: it was read from the exchange. */
function toRequest({ method, path, search, header }: Exchange, replaced: Readonly<Record<string, string>> = {}): Request {
  const headers = new Headers(replaced)
  for (const name of SDK_HEADERS) {
    const value = header(name)
    if (value !== undefined && !headers.has(name)) headers.set(name, value)
  }
  // The service's own address is never taken from a request.
  return new Request(`http://localhost${path}${search}`, { method, headers })
}

function notFound(requestId: string, id: string | number | null = null): Answer {
  return jsonAnswer(toErrorBody(sessionNotFound(), requestId, id, SESSION_NOT_FOUND), 404)
}

/** Our codes for the SDK's statuses, where it is not plain bad input. */
const STATUS_CODES: Partial<Record<number, ErrorCode>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'too_large',
  415: 'unsupported_media_type',
}

const errorBody = z.looseObject({ error: z.looseObject({ data: z.looseObject({}).optional() }) })

/** The SDK's answer, with our code and request id added to refusals. */
async function nameErrors(response: Response, requestId: string): Promise<Answer> {
  const type = response.headers.get('content-type')
  if (response.ok || !isJsonContentType(type)) {
    const isStream = response.body === null || /^text\/event-stream\b/.test(type ?? '')
    const body = isStream ? response.body : new Uint8Array(await response.arrayBuffer())
    return { status: response.status, headers: Object.fromEntries(response.headers), body }
  }
  const body = errorBody.safeParse(await response.json())
  const code = STATUS_CODES[response.status] ?? (response.status >= 500 ? 'internal' : 'invalid_input')
  if (!body.success) return jsonAnswer(toErrorBody(new AppError(code, 'The request was rejected.'), requestId), response.status)
  const data = { ...body.data.error.data, code, requestId }
  return jsonAnswer({ ...body.data, error: { ...body.data.error, data } }, response.status)
}

/** One JSON body, unless the client accepts nothing but a stream. A batch is answered with a list. */
function reply(exchange: Exchange, json: Uint8Array | string | readonly (Uint8Array | string)[]): Answer {
  const accept = exchange.header('accept')
  const isBatch = typeof json === 'object' && !(json instanceof Uint8Array)
  if (takesJson(accept) || !takesStream(accept)) {
    const body = isBatch ? joinBytes([...json.flatMap((one, place) => [place === 0 ? '[' : ',', one]), ']']) : json
    return { status: 200, headers: { 'content-type': 'application/json' }, body }
  }
  const events = (isBatch ? json : [json]).flatMap((one) => ['event: message\ndata: ', one, '\n\n'])
  return { status: 200, headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }, body: joinBytes(events) }
}
