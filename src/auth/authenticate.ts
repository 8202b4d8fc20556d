import { type Actor, ANONYMOUS } from '../domain/people/actor.ts'
import { toDay } from '../domain/people/usage.ts'
import type { Clock } from '../domain/ports/environment.ts'
import type { StoredKey } from '../domain/sign-in/keys.ts'
import { AppError, invalidInput } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { hashApiKey, isWellFormedApiKey, LINK_PREFIX, looksLikeApiKey } from './api-key.ts'

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
