import { AppError } from '../errors.ts'
import type { Route, RouteKind } from './route.ts'

/** A request that presents nobody, while the library is for members alone. */
interface Knock {
  readonly kind: RouteKind
  readonly path: string
  /** Null where no route matches: the answer is the same as if one did. */
  readonly route: Pick<Route, 'isEntry' | 'path'> | null
}

/**
 * What somebody without an account gets while the library is for members alone (contract, "One rule"): pages ask to sign in, REST, MCP and
 * Git ask for a key, and everything for readers elsewhere does not exist. Whether an item exists makes no difference.
 * @returns null for what brings people in: probes, static files, sign-in, and addresses with a token of their own
 */
export function refuseStranger({ kind, path, route }: Knock): AppError | null {
  if (route?.isEntry) return null
  switch (kind) {
    case 'probe':
      return null
    case 'rest':
    case 'mcp':
      return needsKey()
    case 'page':
      return new AppError('unauthenticated', 'This library is for its members. Sign in first.')
    case 'download':
      return path.startsWith('/api/') ? needsKey() : new AppError('unauthenticated', 'This library is for its members. Sign in first.')
    case 'channel':
      // Git sends a password only when it is asked for one.
      return route?.path.includes('{git}') ? needsKey() : new AppError('not_found', 'Nothing found at this address.')
    case 'asset':
    case 'embed':
      return new AppError('not_found', 'Nothing found at this address.')
  }
}

function needsKey(): AppError {
  return new AppError('unauthenticated', 'This library is for its members. Send an API key.')
}
