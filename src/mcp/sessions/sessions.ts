import { randomUUID } from 'node:crypto'
import type { McpServer } from '@modelcontextprotocol/server'
import { AppError } from '../../errors.ts'
import type { ItemKind } from '../../library/items.ts'
import type { SessionLimits } from '../../library/ports/sessions.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import type { Binding } from '../server-factory.ts'
import { createEventLogs } from './event-log.ts'
import { QUESTION_LIMITS, type QuestionLimits } from './open-questions.ts'
import { createRelay } from './relay.ts'
import { createRecordCache } from './session-records.ts'
import { createSessionServers, hashSessionId, openingRequest, type ServerLimits, type SessionOwner } from './session-servers.ts'

const SESSION_LIMITS: SessionLimits = { idleMs: 24 * 3_600_000, perQuota: 200, total: 20_000 }
const SERVER_LIMITS: ServerLimits = { idleMs: 120_000, perQuota: 100, most: 2_000 }
/** How often the keys of open streams are checked. */
const KEY_CHECK_MS = 2_000
/** How often a request looks for the holder of its session, which may change while it looks. */
const MAX_HOLDERS = 3
/** Largest `initialize` body that is stored; a client with a larger one is served without a session. */
const MAX_INITIALIZE_BYTES = 16 * 1024

/** A session that was found: what its client declared, and the way to its server. */
export interface Session {
  /** Whether its user can be asked by form. */
  readonly canAsk: boolean
  /** Whether its server runs, here or on another instance: it may wait for an answer. */
  readonly isLive: boolean
  /** Hands a request to the session's server, wherever it runs; started here from the record when it runs nowhere. */
  handle(request: Request, message: unknown, binding: Binding): Promise<Response>
  end(): Promise<void>
}

/** The sessions of a service. */
export interface Sessions {
  /** Opens a session for an `initialize` body and gives its id; null when the body is too large to store. */
  open(initialize: unknown, owner: SessionOwner): Promise<string | null>
  /** The session of this id, when it is this owner's. */
  find(id: string, owner: SessionOwner): Promise<Session | null>
  /** Takes a message from another instance. */
  receive(mail: string): void
  /** Drops the answers that are stored for clients that reconnect. */
  forgetAnswers(): void
  /** Notifies clients with an open stream that prompts or skills changed. `concerns` says which owners get it. */
  notify(kind: ItemKind, concerns: (owner: string) => boolean): Promise<void>
  /** Calls `end` when the key of this owner is revoked or expires; gives what ends the watch. */
  watch(owner: string, end: () => void): () => void
  close(): Promise<void>
}

/**
 * Sessions of clients of the 2025 protocol versions. README.md in this folder explains them: a session is a record in the store, and its server
 * runs on one instance at a time, started from the record when needed; other instances relay requests to it.
 */
export function createSessions(
  store: Pick<LibraryStore, 'sessions' | 'instances' | 'keys'>,
  buildServer: (binding: Binding) => McpServer,
  onFault: (error: AppError) => void,
  limits: { session: SessionLimits; server: ServerLimits; questions: QuestionLimits } = {
    session: SESSION_LIMITS,
    server: SERVER_LIMITS,
    questions: QUESTION_LIMITS,
  },
): Sessions {
  const { instance } = store.instances
  const eventLogs = createEventLogs()
  const records = createRecordCache(store, limits.session)
  const servers = createSessionServers({
    ...{ store: store.sessions, instance, buildServer, eventLogs },
    recordIdleMs: limits.session.idleMs,
    limits: limits.server,
    questionLimits: limits.questions,
  })
  const { running } = servers

  const relay = createRelay(store.instances, {
    async handle({ sha256, method, headers, message }) {
      const server = running.get(sha256)
      return server ? await servers.handle(server, new Request(openingRequest().url, { method, headers }), message) : null
    },
    async end(sha256) {
      const server = running.get(sha256)
      if (server) await servers.stop(server)
    },
    onFault,
  })

  /** Stops the server of a session whose record is gone. */
  async function stopServer(sha256: string, holder: string | null): Promise<void> {
    records.forget(sha256)
    const server = running.get(sha256)
    if (server) await servers.stop(server)
    if (holder !== null && holder !== instance) await relay.tellEnded(holder, sha256)
  }

  /** Streams without a session in this process. */
  const watched = new Set<{ readonly owner: string; readonly end: () => void }>()
  /** Ends the sessions and streams of keys that were revoked or have expired, on whichever instance. */
  async function endInvalidKeys(): Promise<void> {
    const owners = [...running.values(), ...watched].map(({ owner }) => keyOf(owner))
    const invalid = new Set(await store.keys.findOverKeys([...new Set(owners.filter((id) => id !== ''))]))
    if (invalid.size === 0) return
    for (const stream of [...watched]) if (invalid.has(keyOf(stream.owner))) stream.end()
    for (const server of [...running.values()]) {
      if (!invalid.has(keyOf(server.owner))) continue
      await store.sessions.deleteSession(server.sha256)
      records.forget(server.sha256)
      await servers.stop(server)
    }
  }
  const checking = setInterval(() => {
    // A failed check is repeated.
    if (running.size + watched.size > 0) void endInvalidKeys().catch(() => {})
  }, KEY_CHECK_MS)
  checking.unref()

  return {
    async open(initialize, { owner, quota }) {
      const body = JSON.stringify(initialize)
      if (Buffer.byteLength(body) > MAX_INITIALIZE_BYTES) return null
      const id = randomUUID()
      const ended = await store.sessions.createSession({ sha256: hashSessionId(id), owner, quota, initialize: body }, limits.session)
      for (const { sha256, holder } of ended) await stopServer(sha256, holder)
      return id
    },
    async find(id, owner) {
      const sha256 = hashSessionId(id)
      const record = records.get(sha256) ?? (await records.read(sha256))
      if (!record || !isSameOwner(record.owner, owner.owner)) return null
      const { canAsk, holder } = record
      const isElsewhere = holder !== null && holder !== instance && store.instances.isShared
      return {
        canAsk,
        isLive: running.has(sha256) || isElsewhere,
        async handle(request, message, binding) {
          // An instance that is gone does not answer, and is replaced. A process that has the store to itself replaces any earlier holder.
          let gone = isElsewhere ? null : holder
          if (holder !== instance) records.forget(sha256)
          for (let attempt = 0; attempt < MAX_HOLDERS; attempt++) {
            const found = await servers.acquire({ id, sha256, holder, expected: gone }, owner, binding)
            if (!('holder' in found)) return await servers.handle(found, request, message)
            const answer = await relay.ask(found.holder, sha256, request, message)
            if (answer) return answer
            gone = found.holder
          }
          throw new AppError('unavailable', 'No instance holds this session right now. Try again.', { retryAfterSeconds: 1 })
        },
        async end() {
          records.forget(sha256)
          await stopServer(sha256, await store.sessions.deleteSession(sha256))
        },
      }
    },
    receive: relay.receive,
    forgetAnswers: eventLogs.forget,
    watch(owner, end) {
      const stream = { owner, end }
      watched.add(stream)
      return () => watched.delete(stream)
    },
    async notify(kind, concerns) {
      // A key that was just revoked must get nothing about its owner's private items.
      await endInvalidKeys()
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
      // In one transaction: one each would wait behind other writers.
      await store.sessions.releaseSessions(instance)
      relay.close()
    },
  }
}

/** Whether two owners are one: by their key, or by their person and program, with the same part of the library in view. */
function isSameOwner(one: string, other: string): boolean {
  const withoutKey = (owner: string) => owner.replace(/ key \S+ program /, ' program ')
  return withoutKey(one) === withoutKey(other)
}

/** The id of the key in an owner's name; empty without one. */
function keyOf(owner: string): string {
  return owner.split(' ')[3] ?? ''
}
