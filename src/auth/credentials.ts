import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Actor, ANONYMOUS } from '../domain/people/actor.ts'
import { toDay, type UseEntry } from '../domain/people/usage.ts'
import type { Clock } from '../domain/ports/environment.ts'
import type { Surface } from '../domain/service/audit.ts'
import type { StoredKey } from '../domain/sign-in/keys.ts'
import { AppError, invalidInput } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'

/** The prefix of every key. */
const KEY_PREFIX = 'cpb_'
/** The prefix of the token of every install link, but of those that 0.2 made. */
export const LINK_PREFIX = 'cpl_'
const BODY_LENGTH = 43
const CHECK_LENGTH = 6
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_FORM = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${BODY_LENGTH + CHECK_LENGTH}}$`)

/**
 * A new key: `cpb_`, 43 base62 characters of 32 random bytes, 6 of the CRC-32 of all that (contract, "Keys").
 * @param random 32 random bytes. Default: from the system
 */
export function createApiKey(random: Uint8Array = randomBytes(32)): string {
  const head = KEY_PREFIX + toBase62(BigInt(`0x${Buffer.from(random).toString('hex')}`), BODY_LENGTH)
  return head + toBase62(BigInt(crc32(head)), CHECK_LENGTH)
}

/** Whether a text has the form and check digits of a key, without a lookup. */
export function isWellFormedApiKey(text: string): boolean {
  if (!KEY_FORM.test(text)) return false
  const head = text.slice(0, -CHECK_LENGTH)
  return text.slice(-CHECK_LENGTH) === toBase62(BigInt(crc32(head)), CHECK_LENGTH)
}

/** The stored form of a key: its SHA-256, in hex. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** Whether a bearer value means to be one of our keys, or the token of a link; others belong to somebody else's scheme. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(KEY_PREFIX) || text.startsWith(LINK_PREFIX)
}

function toBase62(number: bigint, length: number): string {
  let digits = ''
  for (let rest = number; rest > 0n; rest /= 62n) digits = BASE62.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}

/** How often the last use of a key or a link is written down. */
const TOUCH_EVERY_MS = 60_000

/** The headers a key may come in. Names with underscores are dropped by some proxies, hence the second. */
export const KEY_HEADERS = ['PROMPTS_API_KEY', 'PROMPTS-API-KEY', 'X-API-Key', 'Authorization'] as const

/**
 * The key a request carries, or null. An empty header counts as absent; `Authorization` counts only as `Bearer cpb_…`.
 * @param options.takesBasic whether the password of HTTP Basic is a key, whatever the user name (RFC 7617)
 * @param options.refusesOthers whether a bearer value that is no key is refused where no key was sent, rather than somebody else's
 * @throws AppError `invalid_input` when two different keys are given, `unauthenticated` for a bearer value that is refused
 */
export function readApiKey(
  headers: { get(name: string): string | null },
  options: { readonly takesBasic?: boolean; readonly refusesOthers?: boolean } = {},
): string | null {
  const keys = new Set<string>()
  const password = options.takesBasic ? readBasicPassword(headers.get('Authorization')) : null
  if (password !== null) keys.add(password)
  for (const name of KEY_HEADERS) {
    for (const part of (headers.get(name) ?? '').split(',')) {
      const value = name === 'Authorization' ? (readBearer(part) ?? '') : part.trim()
      if (value !== '') keys.add(value)
    }
  }
  if (keys.size > 1) throw invalidInput('headers', `Two different API keys were sent (in ${KEY_HEADERS.join(', ')}). Send only one.`)
  const [key] = keys
  if (key === undefined && options.refusesOthers && readBearer(headers.get('Authorization') ?? '') === null) {
    throw new AppError('unauthenticated', 'This bearer value is not an API key. Access tokens work at the MCP address they were given for.')
  }
  return key ?? null
}

/** The password of HTTP Basic; null for another scheme, and for an empty one. */
function readBasicPassword(authorization: string | null): string | null {
  const encoded = /^basic\s+([A-Za-z0-9+/]+=*)\s*$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return null
  const credentials = Buffer.from(encoded, 'base64').toString('utf8')
  return credentials.slice(credentials.indexOf(':') + 1) || null
}

/** The key in a bearer value; empty without one, null for a value that is no key. */
function readBearer(value: string): string | null {
  const token = readBearerToken(value)
  return token === '' || looksLikeApiKey(token) ? token : null
}

/** A bearer value (RFC 6750, section 2.1); empty without one. */
export function readBearerToken(value: string): string {
  return /^bearer\s+(.+)$/i.exec(value.trim())?.[1]?.trim() ?? ''
}

/**
 * The actor of an API key. The store is asked on every call, so a revocation is felt on the next one.
 * @throws AppError `invalid_api_key` for a key that is malformed, unknown, expired, revoked or of a suspended account: never a silent fall-back to anonymous
 */
export async function authenticate(
  key: string | null,
  keys: Pick<LibraryStore['keys'], 'findKey' | 'touchKey'>,
  noteSeen: LibraryStore['people']['noteSeen'],
  clock: Clock,
): Promise<Actor> {
  if (key === null) return ANONYMOUS
  if (!isWellFormedApiKey(key) && !key.startsWith(LINK_PREFIX))
    throw new AppError('invalid_api_key', 'The API key is malformed, probably mistyped or truncated. Copy it again.')
  const stored = await keys.findKey(hashApiKey(key))
  if (!stored) throw new AppError('invalid_api_key', 'Unknown API key.')
  return actorOfKey(stored, keys, noteSeen, clock)
}

/** The actor of a key that was found. @throws AppError `invalid_api_key` for one that is revoked, expired or of a suspended account */
export function actorOfKey(
  stored: StoredKey,
  keys: Pick<LibraryStore['keys'], 'touchKey'>,
  noteSeen: LibraryStore['people']['noteSeen'],
  clock: Clock,
): Actor {
  if (stored.revokedAt !== null) throw new AppError('invalid_api_key', 'The API key has been revoked.')
  if (stored.expiresAt !== null && Date.parse(stored.expiresAt) <= clock())
    throw new AppError('invalid_api_key', 'The API key has expired.')
  if (stored.isSuspended) throw new AppError('invalid_api_key', 'The account of this API key is suspended. Ask an administrator.')
  const today = toDay(clock())
  if (stored.seenOn !== today) noteSeen(stored.userId, today).catch(() => {})
  // A note of its last use is best effort: a busy or full disk must not keep anybody from reading.
  if (stored.lastUsedAt === null || Date.parse(stored.lastUsedAt) < clock() - TOUCH_EVERY_MS) keys.touchKey(stored.id).catch(() => {})
  return {
    kind: 'user',
    userId: stored.userId,
    username: stored.username,
    scopes: new Set(stored.scopes),
    keyId: stored.id,
    ...(stored.clientId !== null && { clientId: stored.clientId }),
    ...(stored.within && { within: stored.within }),
  }
}

/**
 * The maker of an install link, with no right but to read, and the path of the scope it is bound to. The store is asked on every call, so a
 * revocation is felt on the next one.
 * @returns null for a link that is unknown, expired, revoked or of a suspended account: it is not told which
 */
export async function authenticateInstallLink(
  sha256: string,
  keys: Pick<LibraryStore['keys'], 'findLink' | 'touchKey'>,
  clock: Clock,
): Promise<{ readonly id: string; readonly actor: Actor; readonly scope: string } | null> {
  const link = await keys.findLink(sha256)
  if (!link || link.revokedAt !== null || link.isSuspended) return null
  if (link.expiresAt !== null && Date.parse(link.expiresAt) <= clock()) return null
  if (link.lastUsedAt === null || Date.parse(link.lastUsedAt) < clock() - TOUCH_EVERY_MS) keys.touchKey(link.id).catch(() => {})
  return {
    id: link.id,
    actor: { kind: 'user', userId: link.userId, username: link.username, scopes: new Set(['read']) },
    scope: link.path ?? '',
  }
}

/** The needs of a caller without a key, per surface. Completes the sentence "OPERATION needs …". */
export const KEY_HINTS = {
  rest: 'an API key: send one in the X-API-Key header.',
  mcp: 'an API key: send one in the PROMPTS_API_KEY or X-API-Key header.',
  /** Many proxies drop headers with an underscore in their name. */
  mcpBehindProxy:
    'an API key: send one in the X-API-Key header. The proxy may have dropped a PROMPTS_API_KEY header because of its underscores (nginx needs "underscores_in_headers on").',
  stdio: 'an API key: set PROMPTS_API_KEY in the environment of this MCP server.',
  cli: 'a user: add --user NAME, or set PROMPTS_API_KEY to an API key.',
  remote: 'an API key: set PROMPTS_API_KEY.',
} as const

const PROGRAMS = { reads: 'read', hasCalls: true } as const
const PAGES = { surface: 'web', hasCalls: false } as const

/** Entry points of a local library: the hint for callers without a key, the surface in the audit log, and how uses count (null: not). */
export const ENTRIES = {
  web: { keyHint: KEY_HINTS.rest, surface: 'web', uses: { ...PAGES, reads: 'view' } },
  /** Files and texts that pages give. */
  download: { keyHint: KEY_HINTS.rest, surface: 'rest', uses: { ...PAGES, reads: 'copy' } },
  embed: { keyHint: KEY_HINTS.rest, surface: 'rest', uses: { surface: 'embed', reads: 'view', hasCalls: false } },
  rest: { keyHint: KEY_HINTS.rest, surface: 'rest', uses: { surface: 'rest', ...PROGRAMS } },
  /** Installing from an index, a marketplace or a repository. */
  channel: { keyHint: KEY_HINTS.rest, surface: 'rest', uses: { surface: 'rest', reads: 'read', hasCalls: false } },
  mcp: { keyHint: KEY_HINTS.mcp, surface: 'mcp', uses: { surface: 'mcp', ...PROGRAMS } },
  mcpBehindProxy: { keyHint: KEY_HINTS.mcpBehindProxy, surface: 'mcp', uses: { surface: 'mcp', ...PROGRAMS } },
  stdio: { keyHint: KEY_HINTS.stdio, surface: 'mcp', uses: null },
  cli: { keyHint: KEY_HINTS.cli, surface: 'cli', uses: null },
} as const satisfies Readonly<Record<string, { readonly keyHint: string; readonly surface: Surface; readonly uses: UseEntry | null }>>
export type Entry = keyof typeof ENTRIES

/** The prefixes of access and refresh tokens. They are found by their digest as a whole. */
export const ACCESS_TOKEN_PREFIX = 'cpo_'
export const REFRESH_TOKEN_PREFIX = 'cpr_'

/** Whether a bearer value means to be an access token of ours. */
export function looksLikeAccessToken(text: string): boolean {
  return text.startsWith(ACCESS_TOKEN_PREFIX)
}

/** The id of the key that a consent which is being given belongs to. */
export const consentKey = new AsyncLocalStorage<string>()
