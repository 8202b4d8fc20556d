import type { McpServer } from '@modelcontextprotocol/server'
import type { ItemKind } from '../../domain/items/items.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { canAskByForm } from '../ask-variables.ts'
import type { Binding } from '../dispatcher.ts'
import { createEventLogs } from './event-log.ts'
import { QUESTION_LIMITS, type QuestionLimits } from './open-questions.ts'
import { createSessionServers, type ServerLimits, type SessionOwner } from './session-servers.ts'
import type { SessionTokens } from './session-tokens.ts'

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
