import { setTimeout as sleep } from 'node:timers/promises'
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { AppError } from '../../errors.ts'
import type { Binding } from '../dispatcher.ts'
import { asRequest, cancelledNotification } from '../messages.ts'
import type { createEventLogs } from './event-log.ts'
import { createQuestionBounds, type OpenQuestions, type QuestionLimits } from './open-questions.ts'
import type { SessionClaims } from './session-tokens.ts'
import { whenSent } from './stream-end.ts'

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
