import { createHash, randomUUID } from 'node:crypto'
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { AppError } from '../errors.ts'
import type { ItemKind } from '../library/items.ts'
import type { SessionLimits, SessionStore } from '../library/ports.ts'
import { canAskByForm } from './ask-variables.ts'
import { createEventLog } from './event-log.ts'
import { initializeRequest } from './messages.ts'
import type { Binding } from './server-factory.ts'

/** Whom a session belongs to, and whom it counts for. */
export interface SessionOwner {
  /** The key that opened it, or `anonymous`: nobody else may use it. */
  readonly owner: string
  /** The key, or the address of a client without one. */
  readonly quota: string
}

/** Limits of a process beside those of the records. */
export interface LiveLimits {
  /** A session without an open stream or call is let go of after this; its record lets it come back. */
  readonly idleMs: number
  /** Most sessions held in memory at once. */
  readonly most: number
}

const SESSION_LIMITS: SessionLimits = { idleMs: 24 * 3_600_000, perQuota: 200, total: 20_000 }
const LIVE_LIMITS: LiveLimits = { idleMs: 120_000, most: 2_000 }

/** When a client whose stream broke should come back. */
const RETRY_MS = 1_000
/** Largest `initialize` body that is kept; a client with a larger one is served without a session. */
const MAX_INITIALIZE_BYTES = 16 * 1024

/** A session found: what its client declared, and the way to its server. */
export interface Session {
  /** Whether its user can be asked by form. */
  readonly canAsk: boolean
  /** Whether its server is held in this process: it may wait for an answer. */
  readonly isLive: boolean
  /** Hands a request to the session's server, made from the record when it is not there. */
  handle(request: Request, message: unknown, binding: Binding): Promise<Response>
  end(): Promise<void>
}

export interface Sessions {
  /** Opens a session for an `initialize` body and gives its id; null when the body is too large to keep. */
  open(initialize: unknown, owner: SessionOwner): Promise<string | null>
  /** The session of this id, when it is this owner's. */
  find(id: string, owner: SessionOwner): Promise<Session | null>
  /** Tells the clients that listen that prompts or skills changed; `tells` says for which owners. */
  notify(kind: ItemKind, tells: (owner: string) => boolean): void
  /** Sessions held in memory. */
  countLive(): number
  close(): Promise<void>
}

interface Live {
  readonly owner: string
  readonly mcp: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Answers that are still being sent, the standing stream among them. */
  open: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Sessions of clients of the 2025 era. What a session needs to live is a record in the store: its server is made when something
 * has to be streamed, asked or told, let go of when nothing is, and made again from the record, here or on another instance.
 */
export function createSessions(
  store: SessionStore,
  buildServer: (binding: Binding) => McpServer,
  limits: { session: SessionLimits; live: LiveLimits } = { session: SESSION_LIMITS, live: LIVE_LIMITS },
): Sessions {
  /** This process among those that share the store. */
  const instance = randomUUID()
  const live = new Map<string, Live>()
  /** Sessions being made from their records, so that two calls at once make one. */
  const waking = new Map<string, Promise<Live>>()

  async function letGo(id: string): Promise<void> {
    const one = live.get(id)
    if (!one) return
    live.delete(id)
    clearTimeout(one.timer)
    await one.mcp.close()
    await store.holdSession(hash(id), null, instance)
  }

  /** Starts the clock of a session in which nothing is going on. */
  function rest(id: string, one: Live): void {
    clearTimeout(one.timer)
    if (one.open > 0) return
    // A record that cannot be written just now only says who held the session last.
    one.timer = setTimeout(() => void letGo(id).catch(() => {}), limits.live.idleMs)
    one.timer.unref()
  }

  /** Makes room: the one that has rested longest goes first, else the oldest. */
  async function makeRoom(): Promise<void> {
    while (live.size >= limits.live.most) {
      const resting = [...live].find(([, one]) => one.open === 0) ?? [...live][0]
      if (!resting) return
      await letGo(resting[0])
    }
  }

  async function wake(id: string, owner: string, initialize: unknown, binding: Binding): Promise<Live> {
    await makeRoom()
    const mcp = buildServer(binding)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: createEventLog(),
      retryInterval: RETRY_MS,
    })
    await mcp.connect(transport)
    const replayed = await transport.handleRequest(replay('POST'), { parsedBody: initialize })
    await replayed.body?.cancel()
    const one: Live = { owner, mcp, transport, open: 0, timer: undefined }
    live.set(id, one)
    await store.holdSession(hash(id), instance, instance)
    return one
  }

  async function wakeOnce(id: string, owner: string, initialize: unknown, binding: Binding): Promise<Live> {
    const begun = waking.get(id) ?? wake(id, owner, initialize, binding).finally(() => waking.delete(id))
    waking.set(id, begun)
    return await begun
  }

  /** A call's answer, counted as going on until it is sent or its client leaves. */
  function track(id: string, one: Live, response: Response): Response {
    const body = response.body
    if (!body) return response
    one.open++
    clearTimeout(one.timer)
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      one.open--
      if (live.get(id) === one) rest(id, one)
    }
    const reader = body.getReader()
    const tracked = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          over()
          controller.close()
        } else controller.enqueue(value)
      },
      async cancel(reason) {
        over()
        await reader.cancel(reason)
      },
    })
    return new Response(tracked, { status: response.status, headers: response.headers })
  }

  return {
    async open(initialize, { owner, quota }) {
      const body = JSON.stringify(initialize)
      if (Buffer.byteLength(body) > MAX_INITIALIZE_BYTES) return null
      const id = randomUUID()
      await store.createSession({ sha256: hash(id), owner, quota, initialize: body }, limits.session)
      return id
    },
    async find(id, { owner }) {
      const record = await store.findSession(hash(id), limits.session.idleMs)
      if (!record || record.owner !== owner) return null
      const initialize: unknown = JSON.parse(record.initialize)
      const declared = initializeRequest.safeParse(initialize).data?.params.capabilities
      return {
        canAsk: canAskByForm(declared),
        isLive: live.has(id),
        async handle(request, message, binding) {
          const one = live.get(id) ?? (await wakeOnce(id, owner, initialize, binding))
          const response = await one.transport.handleRequest(request, message === undefined ? {} : { parsedBody: message })
          if (!response.body) rest(id, one)
          return track(id, one, response)
        },
        async end() {
          await store.deleteSession(hash(id))
          await letGo(id)
        },
      }
    },
    notify(kind, tells) {
      for (const { owner, mcp } of live.values()) {
        if (!tells(owner)) continue
        const told = kind === 'prompt' ? mcp.server.sendPromptListChanged() : mcp.server.sendResourceListChanged()
        // A client that has gone meanwhile hears nothing; that is no fault.
        told.catch(() => {})
      }
    },
    countLive: () => live.size,
    async close() {
      for (const id of [...live.keys()]) await letGo(id)
    },
  }

  /** A request that stands for the one that opened the session. */
  function replay(method: string): Request {
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    return new Request('http://localhost/', { method, headers, body: '{}' })
  }
}

/** What is kept of a session's id, which is a secret. */
function hash(id: string): string {
  return createHash('sha256').update(id).digest('hex')
}

/** The answer for a session that is not there, or is somebody else's. */
export function sessionNotFound(): AppError {
  return new AppError('not_found', 'This session is not known here, or has ended; initialize again.')
}
