import { setTimeout as sleep } from 'node:timers/promises'
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { ItemKind } from '../../domain/items/items.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { canAskByForm } from '../ask-variables.ts'
import type { Binding } from '../dispatcher.ts'
import { asRequest, cancelledNotification } from '../messages.ts'
import {
  createEventLogs,
  createQuestionBounds,
  type OpenQuestions,
  QUESTION_LIMITS,
  type QuestionLimits,
  whenSent,
} from './session-streams.ts'
import type { SessionClaims, SessionTokens } from './session-tokens.ts'

/** The SDK's status for a stream that is already open; how often, and after how long, a resumed stream is tried again. */
const STREAM_OPEN = 409
const RESUME_ATTEMPTS = 10
const RESUME_WAIT_MS = 50
/** When a client whose stream broke should reconnect. */
const RETRY_MS = 1_000

/** The owner of a session, and the caller it counts for. */
export interface SessionOwner {
  /** The key that opened it, or `anonymous`: nobody else may use it. */
  readonly owner: string
  /** The key, or the address of a client without one. */
  readonly quota: string
}

/** Limits of the servers one process runs. */
export interface ServerLimits {
  /** A server without an open stream or call stops after this; its token lets it start again. */
  readonly idleMs: number
  /** Most servers of one caller. */
  readonly perQuota: number
  readonly most: number
}

/** The MCP server of one session, running in this process. */
interface SessionServer {
  readonly id: string
  readonly owner: string
  readonly quota: string
  readonly mcp: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly events: { end(): void }
  /** Requests whose answers are being sent; an id is used once at a time. */
  readonly pending: Set<string | number>
  readonly questions: OpenQuestions
  /** Answers that are being sent, the standing stream among them. */
  open: number
  idleTimer: NodeJS.Timeout | undefined
}

/** The parts of the module that servers use. */
interface ServerParts {
  buildServer(binding: Binding): McpServer
  readonly eventLogs: ReturnType<typeof createEventLogs>
  readonly limits: ServerLimits
  readonly questionLimits: QuestionLimits
}

/** Starts servers from what their clients declared when something must be streamed, asked or announced, and stops them when they are idle. */
export function createSessionServers(parts: ServerParts) {
  const { buildServer, eventLogs, limits } = parts
  const running = new Map<string, SessionServer>()
  const bounds = createQuestionBounds(parts.questionLimits)
  /** Servers that are starting, so that two calls at once start one. */
  const starting = new Map<string, Promise<SessionServer>>()
  let isClosed = false

  async function stop(server: SessionServer): Promise<void> {
    if (running.get(server.id) !== server) return
    running.delete(server.id)
    await end(server)
  }

  function startIdleTimer(server: SessionServer): void {
    clearTimeout(server.idleTimer)
    if (server.open > 0 || running.get(server.id) !== server) return
    server.idleTimer = setTimeout(() => void stop(server).catch(() => {}), limits.idleMs)
    server.idleTimer.unref()
  }

  /**
   * Makes room for one more server. Beyond a caller's own quota the caller's oldest stops; beyond all, one that is idle. No caller's open question
   * ends for another caller's sake.
   * @throws AppError `unavailable` when every server is in use
   */
  async function makeRoom(quota: string): Promise<void> {
    const own = [...running.values()].filter((one) => one.quota === quota)
    if (own.length >= limits.perQuota) {
      const oldest = own.find((one) => one.open === 0) ?? own[0]
      if (oldest) await stop(oldest)
    }
    if (running.size + starting.size <= limits.most) return
    const idle = [...running.values()].find((one) => one.open === 0)
    if (!idle) throw new AppError('unavailable', 'All sessions are in use. Try again in a moment.', { retryAfterSeconds: 5 })
    await stop(idle)
  }

  async function start(session: SessionClaims, token: string, { owner, quota }: SessionOwner, binding: Binding): Promise<SessionServer> {
    const { id, protocolVersion, capabilities, clientInfo } = session
    await makeRoom(quota)
    // The server outlives the request that started it.
    const { signal: _, ...lasting } = binding
    const mcp = buildServer(lasting)
    const events = eventLogs.open()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => token,
      eventStore: events,
      retryInterval: RETRY_MS,
    })
    await mcp.connect(transport)
    const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion, capabilities, clientInfo } }
    const replayed = await transport.handleRequest(openingRequest(), { parsedBody: initialize })
    await replayed.body?.cancel()
    if (!replayed.ok) throw new AppError('internal', `A session could not start again: the SDK answered ${replayed.status}.`)
    const questions = bounds.open(quota, (requestId) => {
      const params = { requestId, reason: 'The client disconnected and did not reconnect.' }
      transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
      transport.closeSSEStream(requestId)
    })
    const server: SessionServer = {
      ...{ id, owner, quota, mcp, transport, events, questions },
      pending: new Set(),
      open: 0,
      idleTimer: undefined,
    }
    running.set(id, server)
    const send = transport.send.bind(transport)
    transport.send = async (message, sendOptions) => {
      if ('id' in message && !('method' in message) && message.id !== undefined) questions.settle(message.id)
      await send(message, sendOptions)
    }
    return server
  }

  /** The session's server, started when it does not run. @param token the session's id as its client knows it */
  async function acquire(session: SessionClaims, token: string, owner: SessionOwner, binding: Binding): Promise<SessionServer> {
    const { id } = session
    // One that is starting may be for another key.
    await starting.get(id)?.catch(() => {})
    const mine = running.get(id)
    if (mine?.owner === owner.owner) return mine
    // A server acts with the rights of the key that it began with: another key of the same program begins one of its own.
    if (mine) await stop(mine)
    if (isClosed) throw new AppError('unavailable', 'The service is stopping. Try again in a moment.', { retryAfterSeconds: 1 })
    if (starting.has(id)) return await acquire(session, token, owner, binding)
    const started = start(session, token, owner, binding).finally(() => starting.delete(id))
    starting.set(id, started)
    return await started
  }

  return {
    /** By the id of their session. */
    running,
    stop,
    acquire,
    /** Hands one request to a server. It counts as open until its answer is sent or its client leaves. */
    async handle(server: SessionServer, request: Request, message: unknown) {
      const requestId = asRequest(message)?.id
      if (requestId !== undefined && (server.pending.has(requestId) || server.questions.has(requestId))) {
        throw new AppError('invalid_input', 'The id of this request is already used by a pending request of this session.')
      }
      if (requestId !== undefined) {
        server.questions.ask(requestId)
        server.pending.add(requestId)
      }
      // A resumed stream carries the questions of the one that broke.
      const isResumed = request.headers.has('last-event-id')
      const resumed = isResumed ? server.questions.resume() : []
      server.open++
      clearTimeout(server.idleTimer)
      const done = () => {
        if (requestId !== undefined) server.pending.delete(requestId)
        server.open--
        server.questions.awaitReturn(requestId === undefined ? resumed : [requestId])
        startIdleTimer(server)
      }
      try {
        const answer = () => server.transport.handleRequest(request, message === undefined ? {} : { parsedBody: message })
        let response = await answer()
        // A client may be back before the end of its old connection is noticed.
        for (let attempt = 0; isResumed && response.status === STREAM_OPEN && attempt < RESUME_ATTEMPTS; attempt++) {
          await sleep(RESUME_WAIT_MS)
          response = await answer()
        }
        // A cancelled request is never answered, so nothing else would end its stream.
        const cancelled = cancelledNotification.safeParse(message).data?.params.requestId
        if (cancelled !== undefined) {
          server.questions.settle(cancelled)
          server.transport.closeSSEStream(cancelled)
        }
        // A request that the server refused at once asks nothing.
        if (!response.ok && requestId !== undefined) server.questions.settle(requestId)
        return whenSent(response, done)
      } catch (error) {
        if (requestId !== undefined) server.questions.settle(requestId)
        done()
        throw error
      }
    },
    /** Stops all servers; none starts after this. */
    async close() {
      isClosed = true
      const all = [...running.values()]
      running.clear()
      for (const server of all) await end(server)
    },
  }
}

/** Ends a server that no longer runs. */
async function end(server: SessionServer): Promise<void> {
  clearTimeout(server.idleTimer)
  server.questions.settleAll()
  await server.mcp.close()
  server.events.end()
}

/** A request in place of the one that opened a session. */
function openingRequest(): Request {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  return new Request('http://localhost/', { method: 'POST', headers, body: '{}' })
}

/** The error for a session that does not exist or belongs to somebody else. */
export function sessionNotFound(): AppError {
  return new AppError('not_found', 'Unknown or ended session. Initialize again.')
}

const SERVER_LIMITS: ServerLimits = { idleMs: 120_000, perQuota: 100, most: 2_000 }
/** How often the keys of open streams, and whether their sessions were ended elsewhere, are checked. */
const CHECK_MS = 2_000

/** A session that was found: what its client declared, and the way to its server. */
export interface Session {
  /** Whether its user can be asked by form. */
  readonly canAsk: boolean
  /** Whether its server runs in this process, so that it may wait for an answer. */
  readonly isLive: boolean
  /** Hands a request to the session's server, which is started when it does not run. */
  handle(request: Request, message: unknown, binding: Binding): Promise<Response>
  end(): Promise<void>
}

/** The sessions of a service. */
export type Sessions = ReturnType<typeof createSessions>

/**
 * Sessions of clients of the 2025 protocol versions. README.md in this folder explains them: a session is a sealed token that any process
 * opens; its server runs in the process that streams to its client, and is started from the token when needed.
 */
export function createSessions(
  store: Pick<LibraryStore, 'sessions' | 'keys'>,
  tokens: SessionTokens,
  buildServer: (binding: Binding) => McpServer,
  limits: { server: ServerLimits; questions: QuestionLimits } = { server: SERVER_LIMITS, questions: QUESTION_LIMITS },
) {
  const eventLogs = createEventLogs()
  const servers = createSessionServers({ buildServer, eventLogs, limits: limits.server, questionLimits: limits.questions })
  const { running } = servers
  /** Streams without a session in this process. */
  const watched = new Set<{ readonly owner: string; readonly end: () => void }>()

  /** Ends the streams of keys that were revoked or have expired, and of sessions that another process ended. */
  async function endInvalid(): Promise<void> {
    const owners = [...running.values(), ...watched].map(({ owner }) => keyOf(owner))
    const [invalidKeys, ended] = await Promise.all([
      store.keys.findOverKeys([...new Set(owners.filter((id) => id !== ''))]),
      store.sessions.findEndedSessions([...running.keys()]),
    ])
    for (const stream of [...watched]) if (invalidKeys.includes(keyOf(stream.owner))) stream.end()
    for (const server of [...running.values()]) {
      if (invalidKeys.includes(keyOf(server.owner)) || ended.includes(server.id)) await servers.stop(server)
    }
  }
  const checking = setInterval(() => {
    // A failed check is repeated.
    if (running.size + watched.size > 0) void endInvalid().catch(() => {})
  }, CHECK_MS)
  checking.unref()

  return {
    /** Opens a session for an `initialize` body and gives its id; null when the client declares more than an id holds. */
    open: (initialize: unknown, { owner }: SessionOwner) => tokens.seal(initialize, owner),
    /** The session of this id, when it is this owner's. */
    async find(token: string, owner: SessionOwner): Promise<Session | null> {
      const session = tokens.open(token, owner.owner)
      if (!session || (await store.sessions.findEndedSessions([session.id])).length > 0) return null
      return {
        canAsk: canAskByForm(session.capabilities),
        isLive: running.has(session.id),
        async handle(request, message, binding) {
          return await servers.handle(await servers.acquire(session, token, owner, binding), request, message)
        },
        async end() {
          await store.sessions.endSession(session.id, session.endsAt)
          const server = running.get(session.id)
          if (server) await servers.stop(server)
        },
      }
    },
    /** Drops the answers that are stored for clients that reconnect. */
    forgetAnswers: eventLogs.forget,
    /** Calls `end` when the key of this owner is revoked or expires; gives what ends the watch. */
    watch(owner: string, end: () => void) {
      const stream = { owner, end }
      watched.add(stream)
      return () => watched.delete(stream)
    },
    /** Notifies clients with an open stream that prompts or skills changed. `concerns` says which owners get it. */
    async notify(kind: ItemKind, concerns: (owner: string) => boolean) {
      // A key that was just revoked must get nothing about its owner's private items.
      await endInvalid()
      for (const { owner, mcp } of running.values()) {
        if (!concerns(owner)) continue
        const sent = kind === 'prompt' ? mcp.server.sendPromptListChanged() : mcp.server.sendResourceListChanged()
        // A client that has left hears nothing; that is no fault.
        sent.catch(() => {})
      }
    },
    async close() {
      clearInterval(checking)
      const stopped = servers.close()
      for (const stream of [...watched]) stream.end()
      await stopped
    },
  }
}

/** The id of the key in an owner's name; empty without one. */
function keyOf(owner: string): string {
  return owner.split(' ')[3] ?? ''
}
