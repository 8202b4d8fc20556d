import { z } from 'zod'
import { PASSWORD_LENGTH, type PasswordHash } from '../domain/people/account.ts'
import type { ClientOfRequest, Clock } from '../domain/ports/environment.ts'
import { isLoopback } from '../domain/text/addresses.ts'
import type { LibraryStore } from '../storage/store.ts'
import { loginAdapter } from './login-adapter.ts'
import type { PasswordHasher } from './password-hash.ts'

const SESSION_SECONDS = 30 * 24 * 3600
/** How often a session that is used is renewed. */
const RENEW_SECONDS = 24 * 3600
const MAX_USER_AGENT = 300
const COOKIE_PREFIX = 'commonplace'
/** Where requests of programs end that cannot be answered. */
export const ERROR_PATH = '/oauth2/error'
/** The header from which better-auth reads the client's address. It gets only headers made here. */
const ADDRESS_HEADER = 'x-client-address'

/** The settings of logins. */
export interface LoginSettings {
  /** Signs cookies; all instances of one service share it. */
  readonly secret: string
  readonly baseUrl: string
  readonly clock: Clock
  /** How new passwords are hashed; weaker hashes are renewed when their owners sign in. */
  readonly passwordHash: PasswordHash
  /** Hashes in place of what `passwordHash` says, for tests. */
  readonly passwordHasher?: PasswordHasher | undefined
  /** Whether people sign in by password; else all that makes or takes one is refused. */
  readonly hasPasswords: boolean
  /** Whether programs sign in by OAuth; null where they do not. */
  readonly oauth: OAuthSettings | null
  /** Whether nobody may sign in to an account. */
  isSuspended(userId: string): Promise<boolean>
}

/** How programs sign in. */
export interface OAuthSettings {
  /** The addresses that access tokens are for, each with its parts; the first is meant where none is named. */
  readonly resources: readonly [string, ...string[]]
  /** Whether programs may be known by the address of a metadata document, which is fetched. */
  readonly readsDocuments: boolean
  /** IP addresses that metadata documents of clients may be fetched from though they are not public. */
  readonly allowedAddresses: readonly string[]
}

/** Whether tokens may be given at an address: codes and tokens travel in the open over http, but for one machine (OAuth 2.1, section 1.5). */
export function isSafeIssuer(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'https:' || isLoopback(hostname)
}

/** better-auth on the library's tables. */
export type Auth = Awaited<ReturnType<typeof createAuth>>

/** Loads better-auth with the first sign-in; what starts without one does not wait for it. */
export function createAuthLoader(records: LibraryStore['logins'], settings: LoginSettings): () => Promise<Auth> {
  let loading: Promise<Auth> | null = null
  return () => {
    loading ??= createAuth(records, settings)
    return loading
  }
}

const FIELDS = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const

async function createAuth(records: LibraryStore['logins'], settings: LoginSettings) {
  const { secret, baseUrl, passwordHash, oauth } = settings
  const [{ betterAuth }, { vouchedSessions, passkeyPlugin }, { hashingMemory, passwordHasher, queueHashing }, oauthPlugins] =
    await Promise.all([
      import('better-auth/minimal'),
      import('./better-auth-plugins.ts'),
      import('./password-hash.ts'),
      oauth ? import('./oauth/oauth-plugins.ts').then((module) => module.oauthPlugins(oauth)) : [],
    ])
  return betterAuth({
    appName: 'Commonplace',
    baseURL: baseUrl,
    // The issuer of tokens is the service itself. Only some addresses are answered, by routes of ours.
    basePath: '/',
    secret,
    // Those of ours have typed methods, the others are reached by their paths.
    plugins: [vouchedSessions(), passkeyPlugin(records, settings), ...oauthPlugins],
    rateLimit: { enabled: false },
    onAPIError: { errorURL: `${baseUrl}${ERROR_PATH}` },
    database: loginAdapter(records),
    logger: { disabled: true },
    telemetry: { enabled: false },
    emailAndPassword: {
      enabled: true,
      password: queueHashing(settings.passwordHasher ?? passwordHasher(passwordHash), hashingMemory(passwordHash)),
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
    },
    user: { modelName: 'login', fields: { ...FIELDS, emailVerified: 'email_verified' } },
    account: {
      modelName: 'login_account',
      fields: {
        ...FIELDS,
        userId: 'user_id',
        providerId: 'provider_id',
        accountId: 'account_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
      },
    },
    session: {
      modelName: 'login_session',
      fields: { ...FIELDS, userId: 'user_id', expiresAt: 'expires_at', ipAddress: 'ip_address', userAgent: 'user_agent' },
      expiresIn: SESSION_SECONDS,
      updateAge: RENEW_SECONDS,
      // Operations ask for the password again instead.
      freshAge: 0,
      additionalFields: {
        openedBy: { type: 'string', required: false, input: false, fieldName: 'opened_by' },
        isUnseen: { type: 'number', required: false, input: false, fieldName: 'is_unseen' },
      },
    },
    verification: {
      modelName: 'login_verification',
      fields: { ...FIELDS, expiresAt: 'expires_at' },
      storeIdentifier: 'hashed',
    },
    advanced: {
      cookiePrefix: cookiePrefix(baseUrl),
      // better-auth would put its own `__Secure-` before the prefix.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure: baseUrl.startsWith('https:') },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: 'uuid', validateSchema: false },
    },
  })
}

/**
 * `__Host-` (RFC 6265bis, section 4.1.3.2) on https: browsers accept such a cookie from this host only, so no sibling domain can sign a
 * reader in as somebody else. Cookies of other names are ignored, because they can be planted.
 */
export function cookiePrefix(baseUrl: string): string {
  return baseUrl.startsWith('https:') ? `__Host-${COOKIE_PREFIX}` : COOKIE_PREFIX
}

/** The part of a request that better-auth sees. */
export function toHeaders(client: ClientOfRequest): Headers {
  const headers = new Headers({ cookie: client.cookies, 'user-agent': (client.userAgent ?? '').slice(0, MAX_USER_AGENT) })
  if (client.address !== '') headers.set(ADDRESS_HEADER, client.address)
  return headers
}

/** Whether better-auth refused, rather than failed. */
export function isRefusal(error: unknown): boolean {
  const shape = z.object({ statusCode: z.number().min(400).max(499) })
  return error instanceof Error && shape.safeParse(error).success
}
