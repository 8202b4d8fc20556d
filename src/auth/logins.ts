import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { placeholderEmail } from '../library/account.ts'
import { type Actor, ADMIN_RIGHTS, PERSON_RIGHTS } from '../library/actor.ts'
import { PASSWORD_LENGTH } from '../library/password.ts'
import type { BrowserSession, ClientOfRequest, LoginRecords, LoginRow, Logins } from '../library/ports/logins.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import { FRESH_MINUTES, PROXY_SESSION, passwordsOff } from '../library/sign-in-ways.ts'
import { toDay } from '../library/usage.ts'
import { createAttempts } from './attempts.ts'
import { type Auth, cookiePrefix, type LoginSettings, toHeaders } from './better-auth.ts'
import { createKnownBrowsers } from './known-browsers.ts'
import { createLimiter } from './limiter.ts'
import { hashToken } from './login-adapter.ts'

/** How long a session is cached. Whatever ends sessions in this process clears the cache at once. */
const CACHED_MS = 5_000
const MAX_CACHED = 10_000
/** How long a link to set a new password is good, and how many are made for one account meanwhile. */
const RESET_MS = 3_600_000
const RESETS = 5
/** How long a sign-in link is good. */
const SIGN_IN_LINK_MS = 600_000
/** Minimum time between recorded failed sign-ins of one account, since anyone can cause them. */
const FAILURE_SECONDS = 600
/** Accounts made from one address in an hour. */
const SIGN_UPS = 30
const SIGN_UPS_SECONDS = 3600

/** Logins, and authentication by cookies. */
export interface LoginService extends Logins {
  /** Anonymous without a good session. `cookies` renew one that is used. */
  authenticateBrowser(client: ClientOfRequest): Promise<{ actor: Actor | null; cookies: string[] }>
  /** Call when another instance ended sessions or changed rights. */
  forgetHere(): void
}

const sessionRow = z.object({
  id: z.string(),
  user_agent: z.string().nullable(),
  ip_address: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.string(),
})
/** Sessions one user may have; the oldest goes. */
const MAX_SESSIONS = 100

type LoginStore = Pick<LibraryStore, 'logins' | 'people' | 'instances' | 'audit' | 'inTransaction'>

/** Sign-in by password, and the sessions of browsers, by better-auth on the library's own tables. */
export function createLogins(store: LoginStore, auth: () => Promise<Auth>, settings: LoginSettings): LoginService {
  /** The name as better-auth makes it. */
  const sessionCookie = `${cookiePrefix(settings.baseUrl)}.session_token=`
  const hasSessionCookie = (cookies: string) => cookies.includes(sessionCookie)
  const limiters = { store: store.instances, clock: settings.clock }
  const attempts = createAttempts(limiters)
  const browsers = createKnownBrowsers(settings)
  const signUps = createLimiter('accounts made', limiters, SIGN_UPS, SIGN_UPS_SECONDS)
  const resets = createLimiter('password links', limiters, RESETS, RESET_MS / 1000)
  const failures = createLimiter('recorded failures', limiters, 1, FAILURE_SECONDS)
  /** Raised whenever sessions end or rights change. */
  let generation = 0
  const forgetHere = () => {
    generation++
    sessionCache.clear()
    settings.onForget?.()
  }
  const forget = async () => {
    forgetHere()
    // An instance that misses the signal uses its cache a few seconds longer.
    await store.instances.tellLoginsChanged().catch(() => {})
  }
  const sessionCache = new LRUCache<string, { actor: Actor; until: number }>({ max: MAX_CACHED })
  const is = (field: string, value: string) => ({ field, operator: 'eq', value, connector: 'AND' }) as const

  const deleteSessions = async (records: LoginRecords, userId: string, keptSessionId: string | null, isRecorded: boolean) => {
    const others = keptSessionId === null ? [] : [{ field: 'id', operator: 'ne', value: keptSessionId, connector: 'AND' } as const]
    const event = isRecorded ? ({ action: 'sessions_ended', userId } as const) : undefined
    await records.deleteLoginRows('login_session', [is('user_id', userId), ...others], null, event)
  }
  const endSessions = async (userId: string, keptSessionId: string | null) => {
    await deleteSessions(store.logins, userId, keptSessionId, true)
    await forget()
  }
  const endResetLinks = async (userId: string, records: LoginRecords = store.logins) => {
    await records.deleteLoginRows('login_verification', [is('value', userId)], null)
  }
  const requirePasswords = () => {
    if (!settings.hasPasswords) throw passwordsOff()
  }
  /** Sets a password, also the first one, and ends what others may hold: sessions, and links that would undo it. */
  const setPassword = async (
    userId: string,
    password: string,
    { action, keptSessionId }: { action: 'password_changed' | 'password_reset'; keptSessionId: string | null },
  ) => {
    requirePasswords()
    const hash = await (await (await auth()).$context).password.hash(password)
    const account = [is('user_id', userId), is('provider_id', 'credential'), is('account_id', userId)]
    const at = new Date().toISOString()
    const values = { password: hash, updated_at: at }
    await store.inTransaction(async (transaction) => {
      const changed = await transaction.logins.updateLoginRows('login_account', account, values, { action, userId })
      if (changed.length === 0) {
        const row = { id: crypto.randomUUID(), user_id: userId, provider_id: 'credential', account_id: userId, created_at: at, ...values }
        await transaction.logins.insertLoginRow('login_account', row, { action, userId })
      }
      await endResetLinks(userId, transaction.logins)
      await deleteSessions(transaction.logins, userId, keptSessionId, false)
    })
    await forget()
  }

  /** Session cookies if the password is right, else null. */
  const prove = async (login: { email: string; password: string; isRemembered: boolean }, client: ClientOfRequest) => {
    const { email, password, isRemembered } = login
    if (password.length > PASSWORD_LENGTH.max) return null
    try {
      const body = { email, password, rememberMe: isRemembered }
      const headersIn = toHeaders({ ...client, cookies: '' })
      const { headers, response } = await (await auth()).api.signInEmail({ body, headers: headersIn, returnHeaders: true })
      await endStaleSessions(response.user.id)
      await renewHash(response.user.id, password)
      return headers.getSetCookie()
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }
  /** Whether this is somebody's password. */
  const verify = async (userId: string, password: string): Promise<boolean> => {
    const account = [is('user_id', userId), is('provider_id', 'credential')]
    const [row] = await store.logins.findLoginRows('login_account', account, { limit: 1, offset: 0 })
    const hash = row?.['password']
    if (password.length > PASSWORD_LENGTH.max || typeof hash !== 'string') return false
    const { password: hasher } = await (await auth()).$context
    return await hasher.verify({ hash, password })
  }
  const findPasswordHash = async (userId: string) => {
    const account = [is('user_id', userId), is('provider_id', 'credential')]
    const [row] = await store.logins.findLoginRows('login_account', account, { limit: 1, offset: 0 })
    return row?.['password'] ?? null
  }
  const isSignInLink = (token: string) => [is('identifier', toSignInIdentifier(token))]
  const recordFailure = async (userId: string) => {
    if ((await failures.count(userId)) !== null) return
    await store.audit.recordEvent({ action: 'sign_in_failed', targetId: userId, ownerId: userId })
  }
  /** Rehashes a just verified password if its hash is weaker than the current setting. */
  const renewHash = async (userId: string, password: string) => {
    const account = [is('user_id', userId), is('provider_id', 'credential')]
    const [row] = await store.logins.findLoginRows('login_account', account, { limit: 1, offset: 0 })
    const old = row?.['password']
    const { isWeakerHash } = await import('./password-hash.ts')
    if (typeof old !== 'string' || !isWeakerHash(old, settings.passwordHash)) return
    const renewed = await (await (await auth()).$context).password.hash(password)
    // Not over a password that was set meanwhile.
    await store.logins.updateLoginRows('login_account', [...account, is('password', old)], { password: renewed })
  }
  /** Deletes expired sessions, and the oldest of a person with too many. */
  const endStaleSessions = async (userId: string) => {
    const now = new Date().toISOString()
    await store.logins.deleteLoginRows('login_session', [{ field: 'expires_at', operator: 'lt', value: now, connector: 'AND' }], null)
    const sortBy = { field: 'created_at', direction: 'desc' } as const
    const old = await store.logins.findLoginRows('login_session', [is('user_id', userId)], { limit: 1_000, offset: MAX_SESSIONS, sortBy })
    const ids = old.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
    if (ids.length > 0)
      await store.logins.deleteLoginRows('login_session', [{ field: 'id', operator: 'in', value: ids, connector: 'AND' }], null)
  }

  return {
    async countSignUp(client) {
      requirePasswords()
      const retryAfterSeconds = await signUps.count(client.caller)
      if (retryAfterSeconds === null) return
      throw new AppError('rate_limited', 'Too many new accounts from your address. Try again in an hour.', { retryAfterSeconds })
    },
    async signInNew({ name, password }, client) {
      const person = await store.people.findPersonByName(name)
      if (!person) return { cookies: [] }
      const email = person.email ?? placeholderEmail(person.id)
      const cookies = await prove({ email, password, isRemembered: true }, client)
      return { cookies: cookies ? [...cookies, browsers.make(person.id)] : [] }
    },
    async hashPassword(password) {
      requirePasswords()
      return await (await (await auth()).$context).password.hash(password)
    },
    async signIn({ name, password, isRemembered }, client) {
      requirePasswords()
      const person = name.includes('@')
        ? await store.people.findPersonByEmail(name.toLowerCase())
        : await store.people.findPersonByName(name)
      // An address with a new random number matches nobody; the lookup takes the same time.
      const email = person ? (person.email ?? placeholderEmail(person.id)) : placeholderEmail(crypto.randomUUID())
      let cookies: string[] = []
      const account = person?.id ?? name.toLowerCase().slice(0, 300)
      const knownBrowser = browsers.find(client.cookies, account)
      const isProved = await attempts.count({ account, address: client.caller, knownBrowser }, async () => {
        // A suspended account gets no session, even with the right password.
        if (person && person.suspendedAt !== null) return await verify(person.id, password)
        cookies = (await prove({ email, password, isRemembered }, client)) ?? []
        return cookies.length > 0
      })
      if (!isProved) {
        // Not waited for: how long it takes would tell whether there is such an account.
        if (person) recordFailure(person.id).catch(() => {})
        throw new AppError('unauthenticated', 'Wrong username or password.')
      }
      if (person && person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
      return { cookies: knownBrowser === null ? [...cookies, browsers.make(account)] : cookies }
    },
    async startSession(userId, client) {
      await endStaleSessions(userId)
      const headersIn = toHeaders({ ...client, cookies: '' })
      const { headers } = await (await auth()).api.startSession({ body: { userId }, headers: headersIn, returnHeaders: true })
      return { cookies: headers.getSetCookie() }
    },
    hasPassword: async (userId) => settings.hasPasswords && (await findPasswordHash(userId)) !== null,
    async isFreshSession(userId, sessionId) {
      if (sessionId === undefined) return false
      // The proxy vouches for every request.
      if (sessionId === `${PROXY_SESSION} ${userId}`) return true
      const [row] = await store.logins.findLoginRows('login_session', [is('user_id', userId), is('id', sessionId)], { limit: 1, offset: 0 })
      return row !== undefined && Date.parse(String(row['created_at'])) > Date.now() - FRESH_MINUTES * 60_000
    },
    async createSignInToken(userId) {
      const now = new Date().toISOString()
      await store.logins.deleteLoginRows(
        'login_verification',
        [{ field: 'expires_at', operator: 'lt', value: now, connector: 'AND' }],
        null,
      )
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
      const expiresAt = new Date(Date.now() + SIGN_IN_LINK_MS).toISOString()
      const row = { id: crypto.randomUUID(), identifier: toSignInIdentifier(token), value: userId, expires_at: expiresAt }
      const event = { action: 'sign_in_link_created', userId } as const
      await store.logins.insertLoginRow('login_verification', { ...row, created_at: now, updated_at: now }, event)
      return token
    },
    async findSignInToken(token) {
      const found = await store.logins.findLoginRows('login_verification', isSignInLink(token), { limit: 1, offset: 0 })
      return toUserOfLink(found)
    },
    async useSignInToken(token) {
      return toUserOfLink(await store.logins.deleteLoginRows('login_verification', isSignInLink(token), 1))
    },
    async signOut(client) {
      if (!hasSessionCookie(client.cookies)) return { cookies: [] }
      const { headers } = await (await auth()).api.signOut({ headers: toHeaders(client), returnHeaders: true })
      await forget()
      return { cookies: headers.getSetCookie() }
    },
    async authenticateBrowser(client) {
      if (!hasSessionCookie(client.cookies)) return { actor: null, cookies: [] }
      const key = hashToken(client.cookies)
      const cached = sessionCache.get(key)
      if (cached && cached.until > settings.clock()) return { actor: cached.actor, cookies: [] }
      const asked = generation
      const { headers, response } = await (await auth()).api.getSession({ headers: toHeaders(client), returnHeaders: true })
      const cookies = headers.getSetCookie()
      const person = response ? await store.people.findPerson(response.user.id) : null
      if (!response || !person || person.suspendedAt !== null) return { actor: null, cookies }
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
      // A session that ended meanwhile may have been read just before.
      if (asked === generation) sessionCache.set(key, { actor, until: settings.clock() + CACHED_MS })
      return { actor, cookies }
    },
    async isPasswordOf(userId, password) {
      return await attempts.countSignedIn(userId, () => verify(userId, password))
    },
    setPassword: (userId, password, keptSessionId) => setPassword(userId, password, { action: 'password_changed', keptSessionId }),
    async createResetToken(userId, isAsked) {
      requirePasswords()
      const retryAfterSeconds = isAsked ? await resets.count(userId) : null
      if (retryAfterSeconds !== null) {
        const message = 'Too many reset links for this account. Use one of them, or try again later.'
        throw new AppError('rate_limited', message, { retryAfterSeconds })
      }
      const { internalAdapter } = await (await auth()).$context
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
      const expiresAt = new Date(Date.now() + RESET_MS)
      await internalAdapter.createVerificationValue({ value: userId, identifier: toResetIdentifier(token), expiresAt })
      return token
    },
    async findResetToken(token) {
      requirePasswords()
      const { internalAdapter } = await (await auth()).$context
      const found = await internalAdapter.findVerificationValue(toResetIdentifier(token))
      return found && found.expiresAt.getTime() > Date.now() ? found.value : null
    },
    async resetPassword(token, password) {
      requirePasswords()
      const { internalAdapter } = await (await auth()).$context
      const found = await internalAdapter.consumeVerificationValue(toResetIdentifier(token))
      if (!found || found.expiresAt.getTime() <= Date.now()) return false
      await setPassword(found.value, password, { action: 'password_reset', keptSessionId: null })
      return true
    },
    async listSessions(userId) {
      const rows = await store.logins.findLoginRows('login_session', [is('user_id', userId)], {
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
        }
      })
    },
    async endSession(userId, sessionId) {
      const conditions = [is('user_id', userId), is('id', sessionId)]
      const ended = await store.logins.deleteLoginRows('login_session', conditions, null, { action: 'sessions_ended', userId })
      await forget()
      return ended.length > 0
    },
    endSessions,
    endResetLinks: (userId) => endResetLinks(userId),
    forgetSessions: forget,
    forgetHere,
  }
}

function toResetIdentifier(token: string): string {
  return `reset-password:${token.slice(0, 200)}`
}

/** The stored form of a sign-in link. */
function toSignInIdentifier(token: string): string {
  return `sign-in-link:${hashToken(token.slice(0, 200))}`
}

/** Whose link a row is; null for none, and for one that is over. */
function toUserOfLink([row]: readonly LoginRow[]): string | null {
  const userId = row?.['value']
  return typeof userId === 'string' && Date.parse(String(row?.['expires_at'])) > Date.now() ? userId : null
}

/** Whether better-auth refused, rather than failed. */
function isRefusal(error: unknown): boolean {
  const shape = z.object({ statusCode: z.number().min(400).max(499) })
  return error instanceof Error && shape.safeParse(error).success
}
