import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { AppError } from '../../errors.ts'
import type { ItemKind } from '../../library/items.ts'
import type { SessionLimits } from '../../library/ports/sessions.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import { asRequest, cancelledNotification } from '../messages.ts'
import type { Binding } from '../server-factory.ts'
import { createEventLogs } from './event-log.ts'
import { createQuestionBounds, type OpenQuestions, QUESTION_LIMITS, type QuestionLimits } from './open-questions.ts'
import { createRelay } from './relay.ts'
import { createRecordCache } from './session-records.ts'
import { whenSent } from './stream-end.ts'

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
  /** Most sessions of one caller held in memory at once. */
  readonly perQuota: number
  /** Most sessions held in memory at once. */
  readonly most: number
}

const SESSION_LIMITS: SessionLimits = { idleMs: 24 * 3_600_000, perQuota: 200, total: 20_000 }
const LIVE_LIMITS: LiveLimits = { idleMs: 120_000, perQuota: 100, most: 2_000 }

/** How often it is checked whether the keys of open streams are still good. */
const KEY_CHECK_MS = 2_000

/** How often a request looks for who holds its session: it may be taken over while it looks. */
const MAX_HOLDERS = 3
/** The SDK's status for a stream that is open already, and how often and after what time it is asked again for one that goes on. */
const STREAM_OPEN = 409
const RESUME_ATTEMPTS = 10
const RESUME_WAIT_MS = 50
/** When a client whose stream broke should come back. */
const RETRY_MS = 1_000
/** Largest `initialize` body that is kept; a client with a larger one is served without a session. */
const MAX_INITIALIZE_BYTES = 16 * 1024

/** A session found: what its client declared, and the way to its server. */
export interface Session {
  /** Whether its user can be asked by form. */
  readonly canAsk: boolean
  /** Whether its server is held, here or on another instance: it may wait for an answer. */
  readonly isLive: boolean
  /** Hands a request to the session's server, wherever it is held; made here from the record when it is not. */
  handle(request: Request, message: unknown, binding: Binding): Promise<Response>
  end(): Promise<void>
}

export interface Sessions {
  /** Opens a session for an `initialize` body and gives its id; null when the body is too large to keep. */
  open(initialize: unknown, owner: SessionOwner): Promise<string | null>
  /** The session of this id, when it is this owner's. */
  find(id: string, owner: SessionOwner): Promise<Session | null>
  /** Takes in what another instance wrote to this one. */
  receive(mail: string): void
  /** Drops the answers that are kept for clients that come back. */
  forgetAnswers(): void
  /** Tells the clients that listen that prompts or skills changed; `tells` says for which owners. */
  notify(kind: ItemKind, tells: (owner: string) => boolean): Promise<void>
  /** Has `end` called when the key of this owner is revoked or expires; gives what ends the watch. */
  watch(owner: string, end: () => void): () => void
  close(): Promise<void>
}

/** A session's record, as one request found it. */
interface Held {
  readonly id: string
  readonly sha256: string
  readonly holder: string | null
  /** An instance that held it and is known to have gone. */
  readonly expected: string | null
}

interface Live {
  readonly sha256: string
  readonly owner: string
  readonly quota: string
  readonly mcp: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly events: { end(): void }
  /** Requests whose answers are still being sent; an id is used once at a time. */
  readonly pending: Set<string | number>
  readonly questions: OpenQuestions
  /** Answers that are still being sent, the standing stream among them. */
  open: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Sessions of clients of the 2025 era. What a session needs to live is a record in the store: its server is made when something
 * has to be streamed, asked or told, let go of when nothing is, and made again from the record, here or on another instance. One instance holds it
 * at a time; the others pass on to it what their clients send.
 */
export function createSessions(
  store: Pick<LibraryStore, 'sessions' | 'instances' | 'keys'>,
  buildServer: (binding: Binding) => McpServer,
  onFault: (error: AppError) => void,
  limits: { session: SessionLimits; live: LiveLimits; questions: QuestionLimits } = {
    session: SESSION_LIMITS,
    live: LIVE_LIMITS,
    questions: QUESTION_LIMITS,
  },
): Sessions {
  const { instance } = store.instances
  const eventLogs = createEventLogs()
  /** By the hash of the session's id. */
  const live = new Map<string, Live>()
  const records = createRecordCache(store, limits.session)
  const bounds = createQuestionBounds(limits.questions)
  /** Sessions being made from their records, so that two calls at once make one. */
  const waking = new Map<string, Promise<Live>>()

  let isClosed = false
  /** Sessions being let go of: until that is written down, nobody may take them again, or what is written last would be wrong. */
  const leaving = new Map<string, Promise<void>>()

  async function letGo(one: Live): Promise<void> {
    const { sha256 } = one
    if (live.get(sha256) !== one) return
    live.delete(sha256)
    clearTimeout(one.timer)
    one.questions.settleAll()
    const close = async () => {
      await one.mcp.close()
      one.events.end()
      await store.sessions.releaseSession(sha256, instance)
    }
    const left = close().finally(() => leaving.delete(sha256))
    leaving.set(sha256, left)
    await left
  }

  const relay = createRelay(store.instances, {
    async handle({ sha256, method, headers, message }) {
      const one = live.get(sha256)
      return one ? await handle(one, new Request(opening().url, { method, headers }), message) : null
    },
    async end(sha256) {
      const one = live.get(sha256)
      if (one) await letGo(one)
    },
    onFault,
  })

  /** Starts the clock of a session in which nothing is going on. */
  function rest(one: Live): void {
    clearTimeout(one.timer)
    if (one.open > 0 || live.get(one.sha256) !== one) return
    // A record that cannot be written just now only says who held the session last.
    one.timer = setTimeout(() => void letGo(one).catch(() => {}), limits.live.idleMs)
    one.timer.unref()
  }

  /**
   * Makes room for one more: beyond its own quota the caller's own oldest goes; beyond all, one that rests. Nobody's open question
   * is ended for another caller's sake.
   * @throws AppError `unavailable` when every place is taken by sessions in use
   */
  async function makeRoom(quota: string): Promise<void> {
    const own = [...live.values()].filter((one) => one.quota === quota)
    if (own.length >= limits.live.perQuota) {
      const oldest = own.find((one) => one.open === 0) ?? own[0]
      if (oldest) await letGo(oldest)
    }
    if (live.size + waking.size <= limits.live.most) return
    const resting = [...live.values()].find((one) => one.open === 0)
    if (!resting) throw new AppError('unavailable', 'All sessions are in use at this moment; try again.', { retryAfterSeconds: 5 })
    await letGo(resting)
  }

  async function wake(id: string, { owner, quota }: SessionOwner, binding: Binding): Promise<Live> {
    const record = await store.sessions.findSession(hash(id), limits.session.idleMs)
    if (!record) throw sessionNotFound()
    await makeRoom(quota)
    // The server outlives the request that woke it.
    const { signal: _, ...lasting } = binding
    const mcp = buildServer(lasting)
    const events = eventLogs.open()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: events,
      retryInterval: RETRY_MS,
    })
    await mcp.connect(transport)
    const replayed = await transport.handleRequest(opening(), { parsedBody: JSON.parse(record.initialize) })
    await replayed.body?.cancel()
    const sha256 = hash(id)
    const questions = bounds.open(quota, (requestId) => {
      transport.onmessage?.({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId, reason: 'The client left and did not come back.' },
      })
      transport.closeSSEStream(requestId)
    })
    const one: Live = { sha256, owner, quota, mcp, transport, events, pending: new Set(), questions, open: 0, timer: undefined }
    live.set(sha256, one)
    const send = transport.send.bind(transport)
    transport.send = async (message, sendOptions) => {
      if ('id' in message && !('method' in message) && message.id !== undefined) questions.settle(message.id)
      await send(message, sendOptions)
    }
    return one
  }

  async function wakeOnce(id: string, owner: SessionOwner, binding: Binding): Promise<Live> {
    if (isClosed) throw new AppError('unavailable', 'The service is stopping; try again in a moment.', { retryAfterSeconds: 1 })
    const begun = waking.get(id) ?? wake(id, owner, binding).finally(() => waking.delete(id))
    waking.set(id, begun)
    return await begun
  }

  /** The session's server when this instance holds it, or may: made when there is none. Else who holds it. */
  async function hold(record: Held, owner: SessionOwner, binding: Binding): Promise<Live | { readonly holder: string }> {
    const { id, sha256 } = record
    const known = live.get(sha256)
    if (known && (record.holder === null || record.holder === instance)) return known
    // That it could not be written down is told to whoever lets go.
    await leaving.get(sha256)?.catch(() => {})
    const holder = await store.sessions.takeSession(sha256, instance, record.expected)
    if (holder === null) throw sessionNotFound()
    if (holder !== instance) {
      // Another instance believed this one gone, and has taken it over.
      if (known) await letGo(known)
      return { holder }
    }
    return live.get(sha256) ?? (await wakeOnce(id, owner, binding))
  }

  /** Hands one request to a session's server, and counts it as going on until its answer is sent or its client leaves. */
  async function handle(one: Live, request: Request, message: unknown): Promise<Response> {
    const requestId = asRequest(message)?.id
    if (requestId !== undefined && (one.pending.has(requestId) || one.questions.has(requestId))) {
      throw new AppError('invalid_input', 'The id of this request is that of another which is still being answered in this session.')
    }
    if (requestId !== undefined) {
      one.questions.ask(requestId)
      one.pending.add(requestId)
    }
    // A stream that is opened again carries the questions of the one that broke.
    const isResumed = request.headers.has('last-event-id')
    const resumed = isResumed ? one.questions.resume() : []
    one.open++
    clearTimeout(one.timer)
    const done = () => {
      if (requestId !== undefined) one.pending.delete(requestId)
      one.open--
      one.questions.awaitReturn(requestId === undefined ? resumed : [requestId])
      rest(one)
    }
    try {
      const answer = () => one.transport.handleRequest(request, message === undefined ? {} : { parsedBody: message })
      let response = await answer()
      // A client may be back before the end of its old connection has come through.
      for (let attempt = 0; isResumed && response.status === STREAM_OPEN && attempt < RESUME_ATTEMPTS; attempt++) {
        await sleep(RESUME_WAIT_MS)
        response = await answer()
      }
      // A request that was cancelled is never answered, so nothing else would end its stream.
      const cancelled = cancelledNotification.safeParse(message).data?.params.requestId
      if (cancelled !== undefined) {
        one.questions.settle(cancelled)
        one.transport.closeSSEStream(cancelled)
      }
      // What the server refused at once is no question.
      if (!response.ok && requestId !== undefined) one.questions.settle(requestId)
      return whenSent(response, done)
    } catch (error) {
      if (requestId !== undefined) one.questions.settle(requestId)
      done()
      throw error
    }
  }

  /** Ends the server of a session whose record has gone. */
  async function endHeld(sha256: string, holder: string | null): Promise<void> {
    records.forget(sha256)
    const one = live.get(sha256)
    if (one) await letGo(one)
    if (holder !== null && holder !== instance) await relay.tellEnded(holder, sha256)
  }

  /** Streams that belong to no session here, by their owners. */
  const others = new Set<{ readonly owner: string; readonly end: () => void }>()
  /** Ends the sessions and streams of keys that are not good any more, whoever revoked them. */
  async function endOverKeys(): Promise<void> {
    const owners = [...live.values(), ...others].map(({ owner }) => keyOf(owner))
    const over = new Set(await store.keys.findOverKeys([...new Set(owners.filter((id) => id !== ''))]))
    if (over.size === 0) return
    for (const other of [...others]) if (over.has(keyOf(other.owner))) other.end()
    for (const one of [...live.values()]) {
      if (!over.has(keyOf(one.owner))) continue
      await store.sessions.deleteSession(one.sha256)
      records.forget(one.sha256)
      await letGo(one)
    }
  }
  const checking = setInterval(() => {
    // A database that cannot be asked now is asked again.
    if (live.size + others.size > 0) void endOverKeys().catch(() => {})
  }, KEY_CHECK_MS)
  checking.unref()

  return {
    async open(initialize, { owner, quota }) {
      const body = JSON.stringify(initialize)
      if (Buffer.byteLength(body) > MAX_INITIALIZE_BYTES) return null
      const id = randomUUID()
      const ended = await store.sessions.createSession({ sha256: hash(id), owner, quota, initialize: body }, limits.session)
      for (const { sha256, holder } of ended) await endHeld(sha256, holder)
      return id
    },
    async find(id, owner) {
      const sha256 = hash(id)
      const known = records.get(sha256)
      const record = known === undefined ? await records.read(sha256) : known
      if (!record || record.owner !== owner.owner) return null
      const { canAsk, holder } = record
      const isElsewhere = holder !== null && holder !== instance && store.instances.isShared
      return {
        canAsk,
        isLive: live.has(sha256) || isElsewhere,
        async handle(request, message, binding) {
          // Who has gone does not answer, and is replaced; a process that has the store to itself replaces whoever had it before.
          let gone = isElsewhere ? null : holder
          if (holder !== instance) records.forget(sha256)
          for (let attempt = 0; attempt < MAX_HOLDERS; attempt++) {
            const held = await hold({ id, sha256, holder, expected: gone }, owner, binding)
            if (!('holder' in held)) return await handle(held, request, message)
            const answer = await relay.ask(held.holder, sha256, request, message)
            if (answer) return answer
            gone = held.holder
          }
          throw new AppError('unavailable', 'Nobody holds this session at the moment; try again.', { retryAfterSeconds: 1 })
        },
        async end() {
          records.forget(sha256)
          await endHeld(sha256, await store.sessions.deleteSession(sha256))
        },
      }
    },
    receive: relay.receive,
    forgetAnswers: eventLogs.forget,
    watch(owner, end) {
      const watched = { owner, end }
      others.add(watched)
      return () => others.delete(watched)
    },
    async notify(kind, tells) {
      // A key that was revoked just now must not hear of its owner's private items.
      await endOverKeys()
      for (const { owner, mcp } of live.values()) {
        if (!tells(owner)) continue
        const told = kind === 'prompt' ? mcp.server.sendPromptListChanged() : mcp.server.sendResourceListChanged()
        // A client that has gone meanwhile hears nothing; that is no fault.
        told.catch(() => {})
      }
    },
    async close() {
      isClosed = true
      clearInterval(checking)
      const all = [...live.values()]
      live.clear()
      for (const one of all) {
        clearTimeout(one.timer)
        one.questions.settleAll()
        await one.mcp.close()
        one.events.end()
      }
      for (const other of [...others]) other.end()
      await Promise.allSettled(leaving.values())
      // All at once: one transaction each would wait behind writers for each.
      await store.sessions.releaseSessions(instance)
      relay.close()
    },
  }
}

/** The id of the key in an owner's name; empty without one. */
function keyOf(owner: string): string {
  return owner.split(' ')[3] ?? ''
}

/** A request that stands for the one that opened a session. */
function opening(): Request {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  return new Request('http://localhost/', { method: 'POST', headers, body: '{}' })
}

/** What is kept of a session's id, which is a secret. */
function hash(id: string): string {
  return createHash('sha256').update(id).digest('hex')
}

/** The answer for a session that is not there, or is somebody else's. */
export function sessionNotFound(): AppError {
  return new AppError('not_found', 'This session is not known here, or has ended; initialize again.')
}
