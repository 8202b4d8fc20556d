import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { placeholderEmail } from '../library/account.ts'
import { type Actor, ADMIN_RIGHTS, PERSON_RIGHTS } from '../library/actor.ts'
import { PASSWORD_LENGTH } from '../library/password.ts'
import type { SignInFactors } from '../library/ports/factors.ts'
import type { BrowserSession, ClientOfRequest, LoginCondition, LoginRecords, LoginRow, Logins, SignedIn } from '../library/ports/logins.ts'
import type { Person } from '../library/ports/people.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import { FRESH_MINUTES, PROXY_SESSION, passwordsOff } from '../library/sign-in-ways.ts'
import { toDay } from '../library/usage.ts'
import { createAttempts } from './attempts.ts'
import { type Auth, cookiePrefix, isRefusal, type LoginSettings, toHeaders } from './better-auth.ts'
import { createFactors, type FactorSettings } from './factors/factors.ts'
import { createPasskeys, type PasskeySignIn } from './factors/passkeys.ts'
import { createSecondSteps } from './factors/second-step.ts'
import { createKnownBrowsers } from './known-browsers.ts'
import { createLimiter } from './limiter.ts'
import { hashToken } from './login-adapter.ts'

/** How long a session is cached. Whatever ends sessions, in any process, clears the cache before the next request. */
const CACHED_MS = 5_000
const MAX_CACHED = 10_000
/** How long a link to set a new password is good, and how many are made for one account meanwhile. */
const RESET_MS = 3_600_000
const RESETS = 5
/** How long a sign-in by a provider holds. */
const PROVIDER_SESSION_MS = 7 * 24 * 3_600_000
/** How long a sign-in link is good. */
const SIGN_IN_LINK_MS = 600_000
/** Minimum time between recorded failed sign-ins of one account, since anyone can cause them. */
const FAILURE_SECONDS = 600
/** Challenges for passkeys one address gets in ten minutes: each is kept for five. */
const CHALLENGES = 100
const CHALLENGES_SECONDS = 600
/** Accounts made from one address in an hour. */
const SIGN_UPS = 30
const SIGN_UPS_SECONDS = 3600

/** Whom cookies sign in, and what renews their session. */
interface Authenticated {
  readonly actor: Actor | null
  readonly cookies: string[]
  /** Whether they must set up a second factor before anything else. */
  readonly lacksFactor: boolean
}

/** Logins, and authentication by cookies. */
export interface LoginService extends Logins {
  /** Anonymous without a good session. `cookies` renew one that is used. */
  authenticateBrowser(client: ClientOfRequest): Promise<Authenticated>
  /** Call when another instance ended sessions or changed rights. */
  forgetHere(): void
  /** Call before a cached session is used: it is forgotten when another process ended sessions or changed rights. */
  forgetEnded(): Promise<void>
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
/** Sessions one user may have; the oldest goes. */
const MAX_SESSIONS = 100

type LoginStore = Pick<LibraryStore, 'logins' | 'people' | 'instances' | 'audit' | 'inTransaction'>

/** Sign-in by password, and the sessions of browsers, by better-auth on the library's own tables. */
export function createLogins(store: LoginStore, auth: () => Promise<Auth>, settings: LoginSettings & FactorSettings): LoginService {
  /** The name as better-auth makes it. */
  const sessionCookie = `${cookiePrefix(settings.baseUrl)}.session_token=`
  const hasSessionCookie = (cookies: string) => cookies.includes(sessionCookie)
  const limiters = { store: store.instances, clock: settings.clock }
  const attempts = createAttempts(limiters)
  const browsers = createKnownBrowsers(settings)
  const passkeys = createPasskeys(store, auth)
  const factors = createFactors(store, passkeys, settings)
  const steps = createSecondSteps(settings)
  const challenges = createLimiter('passkey challenges', limiters, CHALLENGES, CHALLENGES_SECONDS)
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
    // When the database cannot be written now, other instances use their caches a few seconds longer.
    await store.instances.tellLoginsChanged().catch(() => {})
  }
  let revision: number | null = null
  const forgetEnded = async () => {
    const current = await store.instances.readLoginsRevision()
    if (current === revision) return
    revision = current
    forgetHere()
  }
  const sessionCache = new LRUCache<string, { actor: Actor; lacksFactor: boolean; until: number }>({ max: MAX_CACHED })
  const is = (field: string, value: string | number) => ({ field, operator: 'eq', value, connector: 'AND' }) as const

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

  /** Cookies and token of a session if the password is right, else null. */
  const prove = async (login: { email: string; password: string; isRemembered: boolean }, client: ClientOfRequest) => {
    const { email, password, isRemembered } = login
    if (password.length > PASSWORD_LENGTH.max) return null
    try {
      const body = { email, password, rememberMe: isRemembered }
      const headersIn = toHeaders({ ...client, cookies: '' })
      const { headers, response } = await (await auth()).api.signInEmail({ body, headers: headersIn, returnHeaders: true })
      await endStaleSessions(response.user.id)
      await renewHash(response.user.id, password)
      return { cookies: headers.getSetCookie(), token: response.token }
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }
  const findPasswordHash = async (userId: string): Promise<string | null> => {
    const account = [is('user_id', userId), is('provider_id', 'credential')]
    const [row] = await store.logins.findLoginRows('login_account', account, { limit: 1, offset: 0 })
    const hash = row?.['password']
    return typeof hash === 'string' ? hash : null
  }
  /** Whether this is somebody's password. */
  const verify = async (userId: string, password: string): Promise<boolean> => {
    const hash = await findPasswordHash(userId)
    if (password.length > PASSWORD_LENGTH.max || hash === null) return false
    const { password: hasher } = await (await auth()).$context
    return await hasher.verify({ hash, password })
  }
  const isSignInLink = (token: string) => [is('identifier', toSignInIdentifier(token))]
  const recordFailure = async (userId: string, action: 'sign_in_failed' | 'second_step_failed' = 'sign_in_failed') => {
    if ((await failures.count(`${action} ${userId}`)) !== null) return
    await store.audit.recordEvent({ action, targetId: userId, ownerId: userId })
  }
  /** Rehashes a just verified password if its hash is weaker than the current setting. */
  const renewHash = async (userId: string, password: string) => {
    const account = [is('user_id', userId), is('provider_id', 'credential')]
    const old = await findPasswordHash(userId)
    const { isWeakerHash } = await import('./password-hash.ts')
    if (old === null || !isWeakerHash(old, settings.passwordHash)) return
    const renewed = await (await (await auth()).$context).password.hash(password)
    // Not over a password that was set meanwhile.
    await store.logins.updateLoginRows('login_account', [...account, is('password', old)], { password: renewed })
  }
  const hasFactor = ({ codes, passkeys: held }: SignInFactors) => codes !== null || held.length > 0
  /** Whether a right password is not enough: codes are on, or a passkey is required and there is one. */
  const takesSecondStep = async (person: Person | null) => {
    const found = await factors.find(person?.id ?? '')
    return found.codes !== null || (person !== null && factors.isRequiredOf(person.role) && hasFactor(found))
  }
  const openSession = async (userId: string, client: ClientOfRequest, how: { isRemembered: boolean; openedBy: 'provider' | null }) => {
    await endStaleSessions(userId)
    const headersIn = toHeaders({ ...client, cookies: '' })
    const { headers, response } = await (await auth()).api.startSession({
      body: { userId, ...how },
      headers: headersIn,
      returnHeaders: true,
    })
    return { cookies: headers.getSetCookie(), sessionId: response.sessionId }
  }
  /** Makes a browser known that was not, and has its session noticed. */
  const welcome = async (
    userId: string,
    session: { cookies: string[]; condition: LoginCondition },
    knownBrowser: string | null,
  ): Promise<SignedIn> => {
    if (knownBrowser !== null) return { cookies: session.cookies, isPending: false, newBrowserOf: null }
    await store.logins.updateLoginRows('login_session', [is('user_id', userId), session.condition], { is_unseen: 1 })
    return { cookies: [...session.cookies, browsers.make(userId)], isPending: false, newBrowserOf: userId }
  }
  const isSuspended = () => new AppError('forbidden', 'This account is suspended. Ask an administrator.')
  /** Sessions whose people lacked a factor, or had one, are looked at anew. */
  const thenForget =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const done = await work(...args)
      await forget()
      return done
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
      const opened = await prove({ email, password, isRemembered: true }, client)
      return { cookies: opened ? [...opened.cookies, browsers.make(person.id)] : [] }
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
      const opened: { session: { cookies: string[]; token: string } | null } = { session: null }
      const account = person?.id ?? name.toLowerCase().slice(0, 300)
      const knownBrowser = browsers.find(client.cookies, account)
      const hasSecondStep = await takesSecondStep(person)
      const isProved = await attempts.count({ account, address: client.caller, knownBrowser }, async () => {
        // A suspended account gets no session, even with the right password, and one with a second step none yet.
        if (person && (person.suspendedAt !== null || hasSecondStep)) return await verify(person.id, password)
        opened.session = await prove({ email, password, isRemembered }, client)
        return opened.session !== null
      })
      if (!isProved) {
        // Not waited for: how long it takes would tell whether there is such an account.
        if (person) recordFailure(person.id).catch(() => {})
        throw new AppError('unauthenticated', 'Wrong username or password.')
      }
      if (!person || person.suspendedAt !== null) throw isSuspended()
      const { id: userId } = person
      if (hasSecondStep) {
        await renewHash(userId, password)
        return {
          cookies: [steps.make({ userId, isRemembered }, (await findPasswordHash(userId)) ?? '')],
          isPending: true,
          newBrowserOf: null,
        }
      }
      const { cookies, token } = requireSession(opened.session)
      return await welcome(userId, { cookies, condition: is('token', hashToken(token)) }, knownBrowser)
    },
    async findSecondStep(client) {
      return (await steps.find(client.cookies, findPasswordHash))?.userId ?? null
    },
    async finishSignIn(code, client) {
      const step = await steps.find(client.cookies, findPasswordHash)
      const person = step && (await store.people.findPerson(step.userId))
      if (!step || !person) throw new AppError('unauthenticated', 'That took too long. Enter your password again.')
      if (person.suspendedAt !== null) throw isSuspended()
      const { userId, isRemembered } = step
      const knownBrowser = browsers.find(client.cookies, userId)
      const attempt = { account: userId, address: client.caller, knownBrowser }
      if (!(await attempts.countStep(attempt, () => factors.useCode(userId, code)))) {
        recordFailure(userId, 'second_step_failed').catch(() => {})
        throw new AppError('unauthenticated', 'Wrong code. Each code works once: wait for the next one.')
      }
      const { cookies, sessionId } = await openSession(userId, client, { isRemembered, openedBy: null })
      return await welcome(userId, { cookies: [...cookies, steps.end], condition: is('id', sessionId) }, knownBrowser)
    },
    async signInWithPasskey(answer, client) {
      requirePasswords()
      const opened: { session: PasskeySignIn | null } = { session: null }
      // Nobody guesses one: what is counted are the signatures that an address has checked.
      const isProved = await attempts.countPasskey(client.caller, async () => {
        opened.session = await passkeys.signIn(answer, client)
        return opened.session !== null
      })
      if (!isProved)
        throw new AppError('unauthenticated', 'This passkey does not open an account here. Try again, or sign in with your password.')
      const { userId, sessionId, cookies } = requireSession(opened.session)
      await endStaleSessions(userId)
      const ended = [...cookies, steps.end]
      return await welcome(userId, { cookies: ended, condition: is('id', sessionId) }, browsers.find(client.cookies, userId))
    },
    async startSession(userId, client) {
      const { cookies } = await openSession(userId, client, { isRemembered: true, openedBy: 'provider' })
      return { cookies }
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
      if (!hasSessionCookie(client.cookies)) return { actor: null, cookies: [], lacksFactor: false }
      await forgetEnded()
      const key = hashToken(client.cookies)
      const cached = sessionCache.get(key)
      if (cached && cached.until > settings.clock()) return { actor: cached.actor, cookies: [], lacksFactor: cached.lacksFactor }
      const asked = generation
      const { headers, response } = await (await auth()).api.getSession({ headers: toHeaders(client), returnHeaders: true })
      const cookies = headers.getSetCookie()
      if (response?.session.openedBy === 'provider' && isOver(response.session.createdAt)) {
        await store.logins.deleteLoginRows('login_session', [is('id', response.session.id)], null)
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
      // A session that ended meanwhile may have been read just before.
      if (asked === generation) sessionCache.set(key, { actor, lacksFactor, until: settings.clock() + CACHED_MS })
      return { actor, cookies, lacksFactor }
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
          isUnseen: session.is_unseen === 1,
        }
      })
    },
    async markSessionsSeen(userId, sessionId) {
      const others: LoginCondition = { field: 'id', operator: 'ne', value: sessionId ?? '', connector: 'AND' }
      await store.logins.updateLoginRows('login_session', [is('user_id', userId), others, is('is_unseen', 1)], { is_unseen: 0 })
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
    forgetEnded,
    factors: {
      ...factors,
      confirmCodes: thenForget(factors.confirmCodes),
      removeCodes: thenForget(factors.removeCodes),
      async startPasskey(...asked) {
        requirePasswords()
        return await factors.startPasskey(...asked)
      },
      addPasskey: thenForget(async (...added) => {
        requirePasswords()
        return await factors.addPasskey(...added)
      }),
      removePasskey: thenForget(factors.removePasskey),
      reset: thenForget(factors.reset),
      async startPasskeySignIn(client) {
        requirePasswords()
        const retryAfterSeconds = await challenges.count(client.caller)
        if (retryAfterSeconds !== null) {
          throw new AppError('rate_limited', 'Too many sign-ins with passkeys from your address. Try again later.', { retryAfterSeconds })
        }
        return await factors.startPasskeySignIn(client)
      },
    },
  }
}

/** Whether a session that a provider vouches for is over, however it was used: what the provider says is to be asked again. */
function isOver(createdAt: Date): boolean {
  return createdAt.getTime() < Date.now() - PROVIDER_SESSION_MS
}

/** The session that a proof opened. @throws AppError `internal` */
function requireSession<T>(opened: T | null): T {
  if (opened === null) throw new AppError('internal', 'A proof was right and opened no session')
  return opened
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
