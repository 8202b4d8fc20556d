import { KEY_HEADERS } from '../auth/authenticate.ts'
import type { Answer, AnswerHeaders, Exchange } from '../exchange.ts'
import { type AccessRules, isOriginAllowed } from './guards.ts'
import type { RouteKind } from './route.ts'

const EXPOSED_HEADERS = 'X-Request-Id, ETag, Mcp-Session-Id, Retry-After, WWW-Authenticate'
const READS = new Set(['GET', 'HEAD'])
const KEY_HEADER_NAMES = KEY_HEADERS.map((name) => name.toLowerCase())
/** The headers reads differ by. */
const VARY = [...KEY_HEADERS, 'Origin'].join(', ')
const VARY_OF_PAGES = `${VARY}, Accept, Accept-Language, Cookie`

/** Whether a method only reads. */
export function isRead(method: string): boolean {
  return READS.has(method)
}

/** Answers a browser's question whether a page may call: allowed origins everything, others anonymous reads alone. */
export function preflight(exchange: Exchange, kind: RouteKind, rules: AccessRules): Answer {
  const origin = exchange.header('origin') ?? null
  const method = exchange.header('access-control-request-method') ?? ''
  const headers: AnswerHeaders = { vary: 'Origin', 'access-control-max-age': '600' }
  if (origin !== null && isOriginAllowed(origin, rules)) {
    headers['access-control-allow-origin'] = origin
    headers['access-control-allow-methods'] = 'GET, POST, PUT, PATCH, DELETE'
    headers['access-control-allow-headers'] =
      'Content-Type, Accept, Authorization, X-API-Key, PROMPTS_API_KEY, PROMPTS-API-KEY, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, If-None-Match'
    headers['access-control-expose-headers'] = EXPOSED_HEADERS
  } else if (kind === 'oauth') {
    // Programs in browsers of anybody sign in, and send no cookies.
    headers['access-control-allow-origin'] = '*'
    headers['access-control-allow-methods'] = 'GET, POST'
    headers['access-control-allow-headers'] = 'Content-Type, Accept, Authorization, MCP-Protocol-Version'
  } else if (kind !== 'mcp' && isRead(method)) {
    headers['access-control-allow-origin'] = '*'
    headers['access-control-allow-methods'] = 'GET'
  }
  return { status: 204, headers, body: null }
}

/**
 * Adds caching and CORS headers to every answer, including refusals: a page that may call must be able to read the reason.
 * @param isPersonal whether the caller presented a key or an install link: no cache keeps the answer, and no other page gets it
 */
export function addCorsAndCaching(
  headers: AnswerHeaders,
  exchange: Exchange,
  kind: RouteKind,
  rules: AccessRules,
  isPersonal: boolean,
): void {
  const reads = isRead(exchange.method)
  const origin = exchange.header('origin')
  // Below /api/ cookies are never looked at; elsewhere browsers get pages, and programs do not.
  headers['vary'] = readsCookies(kind, exchange.path) ? VARY_OF_PAGES : VARY
  if (kind === 'oauth' || (reads && kind !== 'mcp' && !isPersonal)) headers['access-control-allow-origin'] = '*'
  else if (origin !== undefined && isOriginAllowed(origin, rules)) {
    headers['access-control-allow-origin'] = origin
    headers['access-control-expose-headers'] = EXPOSED_HEADERS
  }
  if (isPersonal) {
    headers['cache-control'] = 'private, no-store'
    headers['referrer-policy'] = 'no-referrer'
  } else headers['cache-control'] ??= reads ? 'no-cache' : 'no-store'
}

/** Pages are nobody else's to open, embed or give devices to. */
const OF_PAGES = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Adds headers that isolate pages from other sites; embeds stay open to them. */
export function addIsolation(headers: AnswerHeaders, kind: RouteKind, isSecure: boolean): void {
  if (kind === 'page') Object.assign(headers, OF_PAGES)
  if (isSecure) headers['strict-transport-security'] = 'max-age=31536000'
}

/** Whether a request presents a key. */
export function hasKeyHeader({ header }: Exchange): boolean {
  return KEY_HEADER_NAMES.some((name) => (header(name) ?? '').trim() !== '')
}

/** Whether people are recognised by their cookies: on pages, and for what they download from them. */
export function readsCookies(kind: RouteKind, path: string): boolean {
  return kind === 'page' || (kind === 'download' && !path.startsWith('/api/'))
}
