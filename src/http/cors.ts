import { KEY_HEADERS } from '../auth/authenticate.ts'
import { type AccessRules, isOriginAllowed } from './guards.ts'
import { VARY } from './rest.ts'

const EXPOSED_HEADERS = 'X-Request-Id, ETag, Mcp-Session-Id, Retry-After, WWW-Authenticate'
const READS = new Set(['GET', 'HEAD'])

/** Whether a method only reads. */
export function isRead(method: string): boolean {
  return READS.has(method)
}

/** Who may call, and which addresses are unlike the others. */
export interface CorsRules extends AccessRules {
  /** Where MCP is spoken, which of pages those of allowed origins alone may do. */
  readonly mcpPath: string
  /** Whether people are known by their session at a path. */
  isPage(path: string): boolean
}

/** Answers a browser's question whether a page may call: allowed origins everything, others anonymous reads alone. */
export function preflight(path: string, origin: string | null, method: string, rules: CorsRules): Response {
  const headers = new Headers({ Vary: 'Origin', 'Access-Control-Max-Age': '600' })
  if (origin !== null && isOriginAllowed(origin, rules)) {
    headers.set('Access-Control-Allow-Origin', origin)
    headers.set('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
    headers.set(
      'Access-Control-Allow-Headers',
      'Content-Type, Accept, Authorization, X-API-Key, PROMPTS_API_KEY, PROMPTS-API-KEY, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, If-None-Match',
    )
    headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  } else if (path !== rules.mcpPath && isRead(method)) {
    headers.set('Access-Control-Allow-Origin', '*')
    headers.set('Access-Control-Allow-Methods', 'GET')
  }
  return new Response(null, { status: 204, headers })
}

/** What every answer says of caches and of pages elsewhere, refusals too: a page that may call must be able to read why it was refused. */
export function addCorsAndCaching(
  headers: { has(name: string): boolean; set(name: string, value: string): unknown },
  request: { readonly method: string; readonly path: string; header(name: string): string | undefined },
  rules: CorsRules,
): void {
  const { method, path } = request
  const origin = request.header('origin') ?? null
  const reads = isRead(method)
  // Below /api/ cookies are never looked at; elsewhere browsers get pages, and programs do not.
  headers.set('Vary', rules.isPage(path) ? `${VARY}, Accept, Cookie` : VARY)
  if (reads && path !== rules.mcpPath) headers.set('Access-Control-Allow-Origin', '*')
  else if (origin !== null && isOriginAllowed(origin, rules)) {
    headers.set('Access-Control-Allow-Origin', origin)
    headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  }
  const isKeyed = KEY_HEADERS.some((name) => (request.header(name) ?? '').trim() !== '')
  if (isKeyed) headers.set('Cache-Control', 'private, no-store')
  else if (!headers.has('Cache-Control')) headers.set('Cache-Control', reads ? 'no-cache' : 'no-store')
}
