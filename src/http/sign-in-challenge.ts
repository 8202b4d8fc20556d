import { looksLikeApiKey } from '../auth/api-key.ts'
import { readBearerToken } from '../auth/authenticate.ts'
import { looksLikeAccessToken } from '../auth/oauth/tokens.ts'
import { DEFAULT_SCOPES } from '../domain/people/actor.ts'
import type { AnswerHeaders, Exchange } from '../exchange.ts'

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
