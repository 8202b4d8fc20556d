import { KEY_HEADERS, looksLikeAccessToken, looksLikeApiKey, readBearerToken } from '../auth/credentials.ts'
import { DEFAULT_SCOPES } from '../domain/people/actor.ts'
import type { ClientOfRequest } from '../domain/ports/environment.ts'
import { isLoopback } from '../domain/text/addresses.ts'
import { AppError } from '../errors.ts'
import type { Answer, AnswerHeaders, Exchange } from '../exchange.ts'
import { callerOfAddress } from './rate-limits.ts'
import type { Route, RouteKind } from './route.ts'

/** The host names and origins under which the service may be reached. */
export interface AccessRules {
  readonly baseUrl: string
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

/**
 * Checks the Host header: an unknown name means a page elsewhere is reaching in under a name of its own (DNS rebinding).
 * @throws AppError `forbidden`
 */
export function checkHost(host: string | null, rules: AccessRules): void {
  const name = hostname(host ?? '')
  const isKnown =
    isLoopback(name) ||
    name === new URL(rules.baseUrl).hostname ||
    rules.allowedHosts.some((allowed) => allowed === '*' || hostname(allowed) === name)
  if (!isKnown || name === '') {
    throw new AppError('forbidden', `Host "${name.slice(0, 80)}" is not allowed. The operator can add it to ALLOWED_HOSTS.`)
  }
}

/** A host header's name in lower case, without port; empty when it holds more than a host (RFC 9110, 7.2). */
function hostname(host: string): string {
  return /[/?#@\\]/.test(host) ? '' : (URL.parse(`http://${host.trim()}`)?.hostname ?? '')
}

/** Scheme, host and port. `URL.origin` is "null" for every scheme of its own, such as a browser extension's, which would make them all one. */
function originOf(url: URL): string {
  return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin
}

/** Whether pages of this origin may write and use MCP. A request without an Origin does not come from a page. */
export function isOriginAllowed(origin: string | null, rules: AccessRules): boolean {
  if (origin === null) return true
  const url = URL.parse(origin)
  if (!url) return rules.allowedOrigins.includes('*')
  return (
    isLoopback(url.hostname) ||
    url.origin === new URL(rules.baseUrl).origin ||
    rules.allowedOrigins.some((allowed) => {
      const allowedUrl = URL.parse(allowed)
      return allowed === '*' || (allowedUrl !== null && originOf(allowedUrl) === originOf(url))
    })
  )
}

/** @throws AppError `forbidden` for a foreign origin */
export function checkOrigin(origin: string | null, rules: AccessRules): void {
  if (isOriginAllowed(origin, rules)) return
  throw new AppError('forbidden', 'This origin is not allowed. The operator can add it to ALLOWED_ORIGINS.')
}

/**
 * The client's address: the socket's, or with `trustedProxies` in front the one that many entries from the end of X-Forwarded-For.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | null, trustedProxies: number): string {
  if (trustedProxies === 0 || !forwardedFor) return socketAddress
  const hops = forwardedFor.split(',').map((hop) => hop.trim())
  return hops[hops.length - trustedProxies] || socketAddress
}

/** Tells where requests came from. @param trustedProxies how many proxies stand in front */
export function createClientReader(trustedProxies: number): (exchange: Exchange) => ClientOfRequest {
  // Many requests in a row come from the same place.
  let last = { address: '', caller: callerOfAddress('') }
  return ({ remoteAddress, header }) => {
    const address = clientAddress(remoteAddress, header('x-forwarded-for') ?? null, trustedProxies)
    if (address !== last.address) last = { address, caller: callerOfAddress(address) }
    return { address, caller: last.caller, userAgent: header('user-agent') ?? null, cookies: header('cookie') ?? '' }
  }
}

/** A request without an account, while the library is for members alone. */
interface StrangerRequest {
  readonly kind: RouteKind
  readonly path: string
  /** Null where no route matches: the answer is the same as if one did. */
  readonly route: Pick<Route, 'isEntry' | 'isOfPublicItem' | 'path'> | null
  /** Whether pages and embeds of single public items are open. */
  readonly hasPublicItems: boolean
}

/**
 * The refusal of somebody without an account while the library is for members alone (contract, "One rule"): pages ask to sign in, REST, MCP and
 * Git ask for a key, and everything for readers elsewhere does not exist. Whether an item exists makes no difference.
 * @returns null for what brings people in: probes, static files, sign-in, and addresses with a token of their own; and for what shows one
 * public item, where the library does
 */
export function refuseStranger({ kind, path, route, hasPublicItems }: StrangerRequest): AppError | null {
  if (route?.isEntry || (hasPublicItems && route?.isOfPublicItem)) return null
  switch (kind) {
    case 'probe':
    case 'oauth':
      return null
    case 'rest':
    case 'langfuse':
    case 'mcp':
      return needsKey()
    case 'page':
      return needsSignIn()
    case 'download':
      return path.startsWith('/api/') ? needsKey() : needsSignIn()
    case 'channel':
      // Git sends a password only when it is asked for one.
      return route?.path.includes('{git}') ? needsKey() : new AppError('not_found', 'Nothing found at this address.')
    case 'asset':
    case 'embed':
      return new AppError('not_found', 'Nothing found at this address.')
  }
}

/**
 * The answer to a stranger for an error of a route that is open to them: the page of an item asks to sign in, whether the item is for members, is
 * private or was never there.
 */
export function hideFromStranger(error: AppError, route: Pick<Route, 'isOfPublicItem' | 'kind'> | null): AppError {
  return error.code === 'not_found' && route?.isOfPublicItem && route.kind === 'page' ? needsSignIn() : error
}

function needsSignIn(): AppError {
  return new AppError('unauthenticated', 'This library is for its members. Sign in first.')
}

function needsKey(): AppError {
  return new AppError('unauthenticated', 'This library is for its members. Send an API key.')
}

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

/** Where MCP is served to everybody, and to programs with a key. */
export const MCP_PATH = '/api/mcp'
/** Where MCP is served to programs that signed in, or have a key; nobody is anonymous there. */
export const SIGNED_IN_MCP_PATH = '/mcp'
/** Before the path of a resource whose metadata is asked for (RFC 9728, section 3.1). */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Whether an address asks everybody to sign in. */
export function asksToSignIn(path: string): boolean {
  return path === SIGNED_IN_MCP_PATH || path.startsWith(`${SIGNED_IN_MCP_PATH}/`)
}

/** Whether a program that signed in calls, rather than somebody with a key. */
export function isFromProgram({ header }: Pick<Exchange, 'header'>): boolean {
  return looksLikeAccessToken(readBearerToken(header('authorization') ?? ''))
}

/** Whether MCP is served at an address: access tokens are for these alone. */
export function isMcpPath(path: string): boolean {
  return asksToSignIn(path) || path === MCP_PATH || path.startsWith(`${MCP_PATH}/`)
}

/**
 * How a program learns where to sign in (RFC 9728, section 5.1): at MCP addresses, and elsewhere for bearer values that are no key.
 * @returns headers of an answer with status 401; none for other requests
 */
export function challengeOf({ path, header }: Pick<Exchange, 'path' | 'header'>, baseUrl: string): AnswerHeaders {
  const token = readBearerToken(header('authorization') ?? '')
  const isRefused = token !== '' && !looksLikeApiKey(token)
  if (!isMcpPath(path) && !isRefused) return {}
  const resource = isMcpPath(path) ? path : SIGNED_IN_MCP_PATH
  return {
    'www-authenticate': challenge({ ...(token !== '' && { error: 'invalid_token' }), baseUrl, path: resource, scopes: DEFAULT_SCOPES }),
  }
}

/** The value of WWW-Authenticate for what a token lacks (RFC 6750, section 3). `scopes`: what to ask for */
export function challenge(what: {
  readonly error?: 'invalid_token' | 'insufficient_scope'
  readonly baseUrl: string
  /** The path that was asked for, percent-encoded. */
  readonly path: string
  readonly scopes: readonly string[]
}): string {
  const error = what.error === undefined ? '' : `error="${what.error}", `
  return `Bearer ${error}resource_metadata="${what.baseUrl}${RESOURCE_METADATA_PATH}${what.path}", scope="${what.scopes.join(' ')}"`
}
