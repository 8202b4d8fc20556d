import { z } from 'zod'
import { type Actor, ADMIN_RIGHTS, PERSON_RIGHTS } from '../domain/people/actor.ts'
import { toDay } from '../domain/people/usage.ts'
import type { ClientOfRequest } from '../domain/ports/environment.ts'
import type { BrowserSession, LoginCondition } from '../domain/sign-in/logins.ts'
import { FRESH_MINUTES, PROXY_SESSION } from '../domain/sign-in/sign-in-ways.ts'
import type { LibraryStore } from '../storage/store.ts'
import { type Auth, cookiePrefix, type LoginSettings, toHeaders } from './better-auth.ts'
import { type FactorService, hasFactor } from './factors/factors.ts'
import { isEqual } from './login-adapter.ts'

/** How long a sign-in by a provider holds. */
const PROVIDER_SESSION_MS = 7 * 24 * 3_600_000
/** Sessions one user may have; the oldest goes. */
const MAX_SESSIONS = 100

/** The actor of a browser's cookies, and the cookies that renew the session. */
interface Authenticated {
  readonly actor: Actor | null
  readonly cookies: string[]
  /** Whether they must set up a second factor before anything else. */
  readonly lacksFactor: boolean
}

const sessionRow = z.object({
  id: z.string(),
  user_agent: z.string().nullable(),
  ip_address: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.string(),
  is_unseen: z.number().nullable(),
})

/** Sessions, and what they made. */
type Grants = Pick<LibraryStore, 'logins'> & { readonly keys: Pick<LibraryStore['keys'], 'endGrantsOf'> }

/** The sessions of browsers. */
export type LoginSessions = ReturnType<typeof createLoginSessions>

type SessionStore = Pick<LibraryStore, 'logins' | 'people' | 'keys'>

/** The sessions of browsers, by better-auth on the library's own tables. */
export function createLoginSessions(
  store: SessionStore,
  auth: () => Promise<Auth>,
  factors: Pick<FactorService, 'find' | 'isRequiredOf'>,
  settings: LoginSettings,
) {
  /** The name as better-auth makes it. */
  const sessionCookie = `${cookiePrefix(settings.baseUrl)}.session_token=`
  const hasSessionCookie = (cookies: string) => cookies.includes(sessionCookie)
  const deleteSessions = async (records: Grants, userId: string, keptSessionId: string | null, isRecorded: boolean): Promise<void> => {
    const others = keptSessionId === null ? [] : [{ field: 'id', operator: 'ne', value: keptSessionId, connector: 'AND' } as const]
    const event = isRecorded ? ({ action: 'sessions_ended', userId } as const) : undefined
    const ended = await records.logins.deleteLoginRows('login_session', [isEqual('user_id', userId), ...others], null, event)
    await records.keys.endGrantsOf(ended.map(({ id }) => String(id)))
  }
  const endSessions = async (userId: string, keptSessionId: string | null, isPause = false) => {
    await deleteSessions(isPause ? { ...store, keys: { endGrantsOf: async () => {} } } : store, userId, keptSessionId, true)
  }
  const endStaleSessions = async (userId: string) => {
    const now = new Date().toISOString()
    await store.logins.deleteLoginRows('login_session', [{ field: 'expires_at', operator: 'lt', value: now, connector: 'AND' }], null)
    const sortBy = { field: 'created_at', direction: 'desc' } as const
    const old = await store.logins.findLoginRows('login_session', [isEqual('user_id', userId)], {
      limit: 1_000,
      offset: MAX_SESSIONS,
      sortBy,
    })
    const ids = old.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
    if (ids.length > 0)
      await store.logins.deleteLoginRows('login_session', [{ field: 'id', operator: 'in', value: ids, connector: 'AND' }], null)
  }

  const openSession = async (
    userId: string,
    client: ClientOfRequest,
    how: { readonly isRemembered: boolean; readonly openedBy: 'provider' | null },
  ): Promise<{ readonly cookies: string[]; readonly sessionId: string }> => {
    await endStaleSessions(userId)
    const headersIn = toHeaders({ ...client, cookies: '' })
    const { headers, response } = await (await auth()).api.startSession({
      body: { userId, ...how },
      headers: headersIn,
      returnHeaders: true,
    })
    return { cookies: headers.getSetCookie(), sessionId: response.sessionId }
  }
  return {
    /** Deletes the sessions of a person, but for one, and what they made. `isRecorded`: with an event of its own in the audit log. */
    deleteSessions,
    endSessions,
    /** Deletes expired sessions, and the oldest of a person with too many. */
    endStaleSessions,
    openSession,
    /** Whether a session was opened moments ago. */
    async isFreshSession(userId: string, sessionId: string | undefined): Promise<boolean> {
      if (sessionId === undefined) return false
      // The proxy vouches for every request.
      if (sessionId === `${PROXY_SESSION} ${userId}`) return true
      const [row] = await store.logins.findLoginRows('login_session', [isEqual('user_id', userId), isEqual('id', sessionId)], {
        limit: 1,
        offset: 0,
      })
      return row !== undefined && Date.parse(String(row['created_at'])) > Date.now() - FRESH_MINUTES * 60_000
    },
    async signOut(client: ClientOfRequest): Promise<{ cookies: string[] }> {
      if (!hasSessionCookie(client.cookies)) return { cookies: [] }
      const { headers } = await (await auth()).api.signOut({ headers: toHeaders(client), returnHeaders: true })
      return { cookies: headers.getSetCookie() }
    },
    /** Anonymous without a good session. `cookies` renew one that is used. */
    async authenticateBrowser(client: ClientOfRequest): Promise<Authenticated> {
      if (!hasSessionCookie(client.cookies)) return { actor: null, cookies: [], lacksFactor: false }
      const { headers, response } = await (await auth()).api.getSession({ headers: toHeaders(client), returnHeaders: true })
      const cookies = headers.getSetCookie()
      if (response?.session.openedBy === 'provider' && isOver(response.session.createdAt)) {
        await store.logins.deleteLoginRows('login_session', [isEqual('id', response.session.id)], null)
        return { actor: null, cookies: [], lacksFactor: false }
      }
      const person = response ? await store.people.findPerson(response.user.id) : null
      if (!response || !person || person.suspendedAt !== null) return { actor: null, cookies, lacksFactor: false }
      // A provider answers for its own second factors.
      const isAsked = factors.isRequiredOf(person.role) && response.session.openedBy !== 'provider'
      const lacksFactor = isAsked && !hasFactor(await factors.find(person.id))
      const today = toDay(settings.clock())
      // Best effort: a busy or full disk must not keep anybody from reading.
      if (person.seenOn !== today) store.people.noteSeen(person.id, today).catch(() => {})
      const actor: Actor = {
        kind: 'user',
        userId: person.id,
        username: person.username,
        scopes: new Set(person.role === 'admin' ? ADMIN_RIGHTS : PERSON_RIGHTS),
        sessionId: response.session.id,
        language: person.language,
      }
      return { actor, cookies, lacksFactor }
    },
    async listSessions(userId: string): Promise<BrowserSession[]> {
      const rows = await store.logins.findLoginRows('login_session', [isEqual('user_id', userId)], {
        limit: MAX_SESSIONS,
        offset: 0,
        sortBy: { field: 'updated_at', direction: 'desc' },
      })
      return rows.map((row): BrowserSession => {
        const session = sessionRow.parse(row)
        return {
          id: session.id,
          userAgent: session.user_agent || null,
          address: session.ip_address || null,
          createdAt: session.created_at,
          updatedAt: session.updated_at,
          expiresAt: session.expires_at,
          isUnseen: session.is_unseen === 1,
        }
      })
    },
    /** Notes that the person saw the notices of all sessions but `sessionId`, which may be the one they warn of. */
    async markSessionsSeen(userId: string, sessionId: string | undefined): Promise<void> {
      const others: LoginCondition = { field: 'id', operator: 'ne', value: sessionId ?? '', connector: 'AND' }
      await store.logins.updateLoginRows('login_session', [isEqual('user_id', userId), others, isEqual('is_unseen', 1)], { is_unseen: 0 })
    },
    /** Ends one session of a user, or all but `keptSessionId`, with what they made; that stays at a pause. Felt on the next request. */
    async endSession(userId: string, sessionId: string): Promise<boolean> {
      const conditions = [isEqual('user_id', userId), isEqual('id', sessionId)]
      const ended = await store.logins.deleteLoginRows('login_session', conditions, null, { action: 'sessions_ended', userId })
      if (ended.length > 0) await store.keys.endGrantsOf([sessionId])
      return ended.length > 0
    },
  }
}

/** Whether a session that a provider vouches for is over, however it was used: what the provider says is to be asked again. */
function isOver(createdAt: Date): boolean {
  return createdAt.getTime() < Date.now() - PROVIDER_SESSION_MS
}
