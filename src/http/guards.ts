import { AppError } from '../errors.ts'

/** Who may reach the service under which name, and from which pages. */
export interface AccessRules {
  readonly baseUrl: string
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Checks the Host header: an unknown name means a page elsewhere is reaching in under a name of its own (DNS rebinding).
 * @throws AppError `forbidden`
 */
export function checkHost(host: string | null, rules: AccessRules): void {
  const name = hostname(host ?? '')
  const isKnown =
    LOOPBACK.has(name) ||
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
    LOOPBACK.has(url.hostname) ||
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
