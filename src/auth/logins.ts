import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { PASSWORD_LENGTH, placeholderEmail } from '../domain/people/account.ts'
import type { Person } from '../domain/people/people.ts'
import type { ClientOfRequest, Clock } from '../domain/ports/environment.ts'
import { type LoginCondition, type LoginRow, readCookie, type SignedIn, writeCookie } from '../domain/sign-in/logins.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { type Auth, isRefusal, type LoginSettings, toHeaders } from './better-auth.ts'
import { createFactors, type FactorSettings, hasFactor } from './factors/factors.ts'
import { createPasskeys, type PasskeySignIn, type Passkeys } from './factors/passkeys.ts'
import { createAttempts, createLimiter } from './limiter.ts'
import { hashToken, isEqual } from './login-adapter.ts'
import { createLoginSessions } from './login-sessions.ts'
import { createPasswords } from './passwords.ts'
import type { Sealer } from './sealer.ts'

const COOKIE = 'commonplace.known'
const MAX_AGE_SECONDS = 365 * 24 * 3600
const NONCE_BYTES = 16
const SHAPE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/

/**
 * Browsers with a device cookie from an earlier sign-in: failures of others at the account do not count against them (OWASP, "Slow Down
 * Online Guessing Attacks with Device Cookies"). The cookie signs nobody in, and reveals nothing without the id of the account.
 * @param settings.secret signs the cookies
 */
function createKnownBrowsers({ secret, baseUrl }: { readonly secret: string; readonly baseUrl: string }) {
  const sign = (nonce: string, account: string) => createHmac('sha256', secret).update(`known browser ${nonce} ${account}`).digest()
  return {
    /** The name of this browser at this account, or null. */
    find(cookies: string, account: string): string | null {
      const [, nonce, mac] = SHAPE.exec(readCookie(COOKIE, cookies, baseUrl) ?? '') ?? []
      if (nonce === undefined || mac === undefined) return null
      return timingSafeEqual(Buffer.from(mac, 'base64url'), sign(nonce, account)) ? `${account} ${nonce}` : null
    },
    /** A Set-Cookie header for a browser that has just signed in to this account. */
    make(account: string): string {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const value = `${nonce}.${sign(nonce, account).toString('base64url')}`
      return writeCookie(COOKIE, value, baseUrl, { maxAgeSeconds: MAX_AGE_SECONDS, sameSite: 'Lax' })
    },
  }
}

/** How long a sign-in link is good. */
const SIGN_IN_LINK_MS = 600_000

/** Links that sign in once, without a password. */
function createSignInLinks(records: LibraryStore['logins']) {
  const isSignInLink = (token: string) => [isEqual('identifier', toSignInIdentifier(token))]
  return {
    /** A token that signs somebody in once, within ten minutes. It is stored as a hash. */
    async createSignInToken(userId: string): Promise<string> {
      const now = new Date().toISOString()
      await records.deleteLoginRows('login_verification', [{ field: 'expires_at', operator: 'lt', value: now, connector: 'AND' }], null)
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
      const expiresAt = new Date(Date.now() + SIGN_IN_LINK_MS).toISOString()
      const row = { id: crypto.randomUUID(), identifier: toSignInIdentifier(token), value: userId, expires_at: expiresAt }
      const event = { action: 'sign_in_link_created', userId } as const
      await records.insertLoginRow('login_verification', { ...row, created_at: now, updated_at: now }, event)
      return token
    },
    /** The owner of a token, which stays good. */
    async findSignInToken(token: string): Promise<string | null> {
      const found = await records.findLoginRows('login_verification', isSignInLink(token), { limit: 1, offset: 0 })
      return toUserOfLink(found)
    },
    /** The owner of a token, which is used up. */
    async useSignInToken(token: string): Promise<string | null> {
      return toUserOfLink(await records.deleteLoginRows('login_verification', isSignInLink(token), 1))
    },
  }
}

/** The stored form of a sign-in link. */
function toSignInIdentifier(token: string): string {
  return `sign-in-link:${hashToken(token.slice(0, 200))}`
}

/** The owner of a link's row; null for none, and for one that is over. */
function toUserOfLink([row]: readonly LoginRow[]): string | null {
  const userId = row?.['value']
  return typeof userId === 'string' && Date.parse(String(row?.['expires_at'])) > Date.now() ? userId : null
}

const STEP_COOKIE = 'commonplace.second-step'
const STEP_PURPOSE = 'second step'
/** How long somebody whose password was right has for the second step. */
const STEP_SECONDS = 300

const stepShape = z.object({ userId: z.string(), isRemembered: z.boolean(), password: z.string(), until: z.number() })

/** A person whose password was right, and how they want to be signed in. */
interface SecondStep {
  readonly userId: string
  readonly isRemembered: boolean
}

/** The sealed cookie that a browser holds between the password and the second step. It is no session. */
function createSecondSteps(settings: { readonly sealer: Sealer; readonly clock: Clock; readonly baseUrl: string }) {
  const { sealer, clock, baseUrl } = settings
  const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const write = (value: string) => writeCookie(STEP_COOKIE, value, baseUrl, { maxAgeSeconds: STEP_SECONDS, sameSite: 'Lax' })
  return {
    /** @param passwordHash the stored form of the password that was right: another one ends the step */
    make: (step: SecondStep, passwordHash: string): string =>
      write(sealer.seal(STEP_PURPOSE, JSON.stringify({ ...step, password: digest(passwordHash), until: clock() + STEP_SECONDS * 1000 }))),
    /** The step of a browser; null when there is none, or it is over. */
    async find(cookies: string, findPasswordHash: (userId: string) => Promise<string | null>): Promise<SecondStep | null> {
      const opened = sealer.open(STEP_PURPOSE, readCookie(STEP_COOKIE, cookies, baseUrl) ?? '')
      if (opened === null) return null
      const { userId, isRemembered, password, until } = stepShape.parse(JSON.parse(opened))
      if (until < clock()) return null
      const hash = await findPasswordHash(userId)
      return hash !== null && digest(hash) === password ? { userId, isRemembered } : null
    },
    /** The Set-Cookie header that ends it. */
    end: write(''),
  }
}

/** Minimum time between recorded failed sign-ins of one account, since anyone can cause them. */
const FAILURE_SECONDS = 600
/** Challenges for passkeys one address gets in ten minutes: each is kept for five. */
const CHALLENGES = 100
const CHALLENGES_SECONDS = 600
/** Accounts made from one address in an hour. */
const SIGN_UPS = 30
const SIGN_UPS_SECONDS = 3600

/** Logins, and authentication by cookies. `cookies` are Set-Cookie headers to send. */
export type Logins = ReturnType<typeof createLogins>

type LoginStore = Pick<LibraryStore, 'logins' | 'people' | 'instances' | 'audit' | 'keys' | 'inTransaction'>

/** Sign-in by password or passkey, with a second step where one is asked for. */
export function createLogins(store: LoginStore, auth: () => Promise<Auth>, settings: LoginSettings & FactorSettings) {
  const limiters = { store: store.instances, clock: settings.clock }
  const attempts = createAttempts(limiters)
  const browsers = createKnownBrowsers(settings)
  const passkeys = createPasskeys(store, auth)
  const factors = createFactors(store, passkeys, settings)
  const steps = createSecondSteps(settings)
  const challenges = createLimiter('passkey challenges', limiters, CHALLENGES, CHALLENGES_SECONDS)
  const signUps = createLimiter('accounts made', limiters, SIGN_UPS, SIGN_UPS_SECONDS)
  const failures = createLimiter('recorded failures', limiters, 1, FAILURE_SECONDS)
  const { deleteSessions, endStaleSessions, openSession, ...sessions } = createLoginSessions(store, auth, factors, settings)
  const { requirePasswords, findPasswordHash, verify, renewHash, ...passwords } = createPasswords(store, auth, { deleteSessions }, settings)

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
  const recordFailure = async (userId: string, action: 'sign_in_failed' | 'second_step_failed' = 'sign_in_failed') => {
    if ((await failures.count(`${action} ${userId}`)) !== null) return
    await store.audit.recordEvent({ action, targetId: userId, ownerId: userId })
  }
  /** Whether a right password is not enough: codes are on, or a passkey is required and there is one. */
  const takesSecondStep = async (person: Person | null) => {
    const found = await factors.find(person?.id ?? '')
    return found.codes !== null || (person !== null && factors.isRequiredOf(person.role) && hasFactor(found))
  }
  /** Makes a browser known that was not, and has its session noticed. */
  const welcome = async (
    userId: string,
    session: { cookies: string[]; condition: LoginCondition },
    knownBrowser: string | null,
  ): Promise<SignedIn> => {
    if (knownBrowser !== null) return { cookies: session.cookies, isPending: false, newBrowserOf: null }
    await store.logins.updateLoginRows('login_session', [isEqual('user_id', userId), session.condition], { is_unseen: 1 })
    return { cookies: [...session.cookies, browsers.make(userId)], isPending: false, newBrowserOf: userId }
  }
  const isSuspended = () => new AppError('forbidden', 'This account is suspended. Ask an administrator.')

  return {
    /** Counts a sign-up. @throws AppError `rate_limited` */
    async countSignUp(client: ClientOfRequest): Promise<void> {
      requirePasswords()
      const retryAfterSeconds = await signUps.count(client.caller)
      if (retryAfterSeconds === null) return
      throw new AppError('rate_limited', 'Too many new accounts from your address. Try again in an hour.', { retryAfterSeconds })
    },
    /** Signs in after sign-up, regardless of failures from the same address. No cookies if it failed. */
    async signInNew({ name, password }: { name: string; password: string }, client: ClientOfRequest): Promise<{ cookies: string[] }> {
      const person = await store.people.findPersonByName(name)
      if (!person) return { cookies: [] }
      const email = person.email ?? placeholderEmail(person.id)
      const opened = await prove({ email, password, isRemembered: true }, client)
      return { cookies: opened ? [...opened.cookies, browsers.make(person.id)] : [] }
    },
    /** @throws AppError `unauthenticated` in the same words and time whatever is wrong, `rate_limited` after too many failures */
    async signIn(
      { name, password, isRemembered }: { name: string; password: string; isRemembered: boolean },
      client: ClientOfRequest,
    ): Promise<SignedIn> {
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
      return await welcome(userId, { cookies, condition: isEqual('token', hashToken(token)) }, knownBrowser)
    },
    /** The person whose password was right in this browser a moment ago; null when no second step is due. */
    async findSecondStep(client: ClientOfRequest): Promise<string | null> {
      return (await steps.find(client.cookies, findPasswordHash))?.userId ?? null
    },
    /** @throws AppError `unauthenticated` in the same words whatever is wrong with the code, `rate_limited`, `forbidden` for a suspended account */
    async finishSignIn(code: string, client: ClientOfRequest): Promise<SignedIn> {
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
      return await welcome(userId, { cookies: [...cookies, steps.end], condition: isEqual('id', sessionId) }, knownBrowser)
    },
    /** @throws AppError `unauthenticated`, `rate_limited`, `forbidden` for a suspended account */
    async signInWithPasskey(answer: object, client: ClientOfRequest): Promise<SignedIn> {
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
      return await welcome(userId, { cookies: ended, condition: isEqual('id', sessionId) }, browsers.find(client.cookies, userId))
    },
    /** Signs in somebody whom a provider, a link or a proxy vouches for. The caller has refused suspended accounts. */
    async startSession(userId: string, client: ClientOfRequest): Promise<{ cookies: string[] }> {
      const { cookies } = await openSession(userId, client, { isRemembered: true, openedBy: 'provider' })
      return { cookies }
    },
    /** @throws AppError `rate_limited` */
    async isPasswordOf(userId: string, password: string): Promise<boolean> {
      return await attempts.countSignedIn(userId, () => verify(userId, password))
    },
    ...passwords,
    ...createSignInLinks(store.logins),
    ...sessions,
    factors: {
      ...factors,
      async startPasskey(...asked: Parameters<Passkeys['startPasskey']>) {
        requirePasswords()
        return await factors.startPasskey(...asked)
      },
      async addPasskey(...added: Parameters<Passkeys['addPasskey']>) {
        requirePasswords()
        return await factors.addPasskey(...added)
      },
      async startPasskeySignIn(client: ClientOfRequest) {
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

/** The session that a proof opened. @throws AppError `internal` */
function requireSession<T>(opened: T | null): T {
  if (opened === null) throw new AppError('internal', 'A proof was right and opened no session')
  return opened
}
