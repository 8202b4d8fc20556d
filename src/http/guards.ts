import type { ClientOfRequest } from '../domain/people/client-of-request.ts'
import { isLoopback } from '../domain/text/addresses.ts'
import { AppError } from '../errors.ts'
import type { Exchange } from '../exchange.ts'
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
