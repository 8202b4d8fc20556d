import type { UseEntry } from '../domain/people/usage.ts'
import type { Surface } from '../domain/service/audit.ts'

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
