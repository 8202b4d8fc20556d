import { AppError } from '../errors.ts'
import type { Route, RouteKind } from './route.ts'

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
 * What somebody without an account gets while the library is for members alone (contract, "One rule"): pages ask to sign in, REST, MCP and
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
 * What a stranger gets for an error of a route that is open to them: the page of an item asks to sign in, whether the item is for members, is
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
