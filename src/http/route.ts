import { RESERVED_NAMES } from '../domain/people/account.ts'
import type { Actor } from '../domain/people/actor.ts'
import type { ClientOfRequest } from '../domain/ports/environment.ts'
import { decodePart } from '../domain/text/addresses.ts'
import type { Answer, Exchange } from '../exchange.ts'
import type { Context } from '../operations/core/procedure.ts'
import type { WorkMeter } from '../storage/store.ts'

/**
 * The kind of a route. It decides authentication (keys below /api and on channels, as passwords too on channels and in Langfuse's API, keys and access tokens on MCP, cookies on pages and
 * their downloads, none elsewhere), the form of errors, and the caching and CORS headers.
 */
export type RouteKind = 'page' | 'rest' | 'mcp' | 'oauth' | 'embed' | 'download' | 'asset' | 'channel' | 'langfuse' | 'probe'

/** One row of the route table. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /**
   * With parameters in braces: `{id}` is one segment, `{filename}` the rest of the path, `{collection}` prompts or skills. `{scope}` at the
   * beginning is the path of a channel's scope, which may be empty, and `{git}` after it the ending that Git addresses may have; such a
   * route is looked for after all others.
   */
  readonly path: string
  readonly kind: RouteKind
  /** Points a request takes from its caller's minute; a point is about a millisecond of the process. */
  readonly cost: number
  /** Whether many requests of one caller wait in line, where others would be refused: clients ask for hundreds at once. */
  readonly queues?: true
  /** Whether it brings people in, and so is open to everybody while the library is for members alone. */
  readonly isEntry?: true
  /** Whether it shows one item alone, and nothing of others: `PUBLIC_ITEMS` leaves it open while the library is for members alone. */
  readonly isOfPublicItem?: true
}

/** The matching row for a request. */
interface Found<R extends Route> {
  /** The kind of the path, also where no route matches. */
  readonly kind: RouteKind
  /** Null for an unknown path and for a method the path does not take. */
  readonly route: R | null
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  /** Methods the path takes, sorted; empty for an unknown path. */
  readonly allowed: readonly string[]
}

const NO_PARAMS: Readonly<Record<string, string>> = {}
/** Parameters that match something else than one segment. */
const PARAMETERS: Readonly<Record<string, string>> = {
  collection: 'prompts|skills',
  filename: '.+',
  // The first segments of the service's own paths are no names.
  username: `(?!(?:${[...RESERVED_NAMES].join('|').replaceAll('.', '\\.')})/)[^/]+`,
  scope:
    '(?:/private)?(?:/labels/[^/]+?)?(?:/(?:prompts|skills|tags|categories|collections|users|install)/[^/]+?|/@[^/]+?|/api/skills/[^/]+/zip)?',
  // The whole library has a name of its own in Git: what a clone of it is called.
  git: '(?:/library\\.git|(?<=[^/])\\.git)?',
}
const SCOPE = '{scope}'
/** First segments of scopes that are for channels alone, and those that pages have too. */
const CHANNEL_SEGMENTS = ['private', 'install', '.well-known']
const SCOPE_SEGMENTS = [...CHANNEL_SEGMENTS, 'labels', 'prompts', 'skills', 'tags', 'categories', 'collections', 'users']
/** Where routes that begin with a scope are found. */
const SCOPED = '*'

interface Pattern<R extends Route> {
  readonly regex: RegExp
  readonly route: R
}

/** Finds routes by method and path. */
export type Router<R extends Route> = ReturnType<typeof createRouter<R>>

/** A router over a table. Of rows that match the same request, the first one wins. */
export function createRouter<R extends Route>(routes: readonly R[]) {
  const fixed = new Map<string, R[]>()
  const patterns = new Map<string, Pattern<R>[]>()
  const kinds = new Map<string, RouteKind>()
  for (const route of routes) {
    const { path, kind } = route
    if (path.includes('{')) append(patterns, bucketOf(path), { regex: toPathPattern(path), route })
    else append(fixed, path, route)
    if (path.startsWith(SCOPE)) for (const segment of CHANNEL_SEGMENTS) kinds.set(segment, kind)
    // Where pages and other routes share a first segment, an unknown path is answered as a page.
    else if (!path.startsWith('/api/') && (kind === 'page' || !kinds.has(firstSegment(path)))) kinds.set(firstSegment(path), kind)
  }
  const match = (path: string) => {
    const found: { route: R; groups: Record<string, string> | undefined }[] = []
    for (const route of fixed.get(path) ?? []) found.push({ route, groups: undefined })
    for (const bucket of [bucketOf(path), wildcardOf(path)]) {
      for (const { regex, route } of patterns.get(bucket) ?? []) {
        const result = regex.exec(path)
        if (result) found.push({ route, groups: result.groups })
      }
    }
    if (found.length > 0) return found
    for (const { regex, route } of patterns.get(SCOPED) ?? []) {
      const result = regex.exec(path)
      if (result) found.push({ route, groups: result.groups })
    }
    return found
  }
  return {
    routes,
    /** HEAD finds the route of GET. */
    find(method: string, path: string): Found<R> {
      const asked = method === 'HEAD' ? 'GET' : method
      const only = fixed.get(path)?.find((route) => route.method === asked)
      if (only) return { kind: only.kind, route: only, params: NO_PARAMS, allowed: [] }
      const found = match(path)
      const best = found.find(({ route }) => route.method === asked)
      if (best) return { kind: best.route.kind, route: best.route, params: decodeAll(best.groups), allowed: [] }
      const kind = found[0]?.route.kind ?? (path.startsWith('/api/') ? 'rest' : (kinds.get(firstSegment(path)) ?? 'page'))
      return { kind, route: null, params: NO_PARAMS, allowed: [...new Set(found.map(({ route }) => route.method))].toSorted() }
    },
  }
}

/** First segments of the paths of a table, which names on pages must not take; without the empty one. */
export function firstSegments(routes: readonly Route[]): string[] {
  const segments = routes.flatMap(({ path }) =>
    path.startsWith(SCOPE) ? [firstSegment(path.slice(SCOPE.length)), ...SCOPE_SEGMENTS] : firstSegment(path),
  )
  return [...new Set(segments)].filter((segment) => segment !== '' && !segment.includes('{')).toSorted()
}

function firstSegment(path: string): string {
  return path.split('/', 2)[1] ?? ''
}

/** Patterns are searched by their first two segments, so that few are tried. A parameter in second place puts a route under a wildcard. */
function bucketOf(path: string): string {
  if (path.startsWith(SCOPE) || firstSegment(path).includes('{')) return SCOPED
  const [, first = '', second = ''] = path.split('/', 3)
  return second.includes('{') || second === '' ? wildcardOf(path) : `${first}/${second}`
}

function wildcardOf(path: string): string {
  return `${firstSegment(path)}/*`
}

function toPathPattern(path: string): RegExp {
  const source = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${PARAMETERS[name] ?? '[^/]+'})`)
  return new RegExp(`^${source}$`)
}

function decodeAll(groups: Record<string, string> | undefined): Readonly<Record<string, string>> {
  if (!groups) return NO_PARAMS
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value.includes('%') ? decodePart(value) : value]))
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

/** An authenticated request, as routes get it. */
export interface Call {
  readonly exchange: Exchange
  readonly kind: RouteKind
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  /** The id of the request in logs and errors. */
  readonly requestId: string
  readonly actor: Actor
  /** The caller that the request is counted for. */
  readonly caller: string
  /** Where it came from, as sign-in and forms see it. */
  readonly client: ClientOfRequest
  /** `Set-Cookie` headers that go with the answer. */
  readonly cookies: string[]
  /** Names of the operations that were called, for the log. */
  readonly operations: Set<string>
  /** Counts more points for the caller. @throws AppError `rate_limited` */
  charge(points: number): Promise<void>
  /** Gets the points of work that was measured; they are charged when the answer is sent. */
  readonly work: WorkMeter
  /** The body, where the route takes one. */
  readonly body: Uint8Array
  /** Waits for the caller's turn before work of this cost; null when it may go on at once. */
  takeTurn(cost: number): Promise<void> | null
}

/** Largest body of a request, in bytes, and the sentence for a larger one. */
export interface BodyLimit {
  readonly maxBytes: number
  readonly tooLarge?: string | undefined
}

/** A route with what answers it. */
export interface BoundRoute extends Route {
  /** The limit of its body, which is read before `handle` is called; it throws where none is to be read. Default: the route takes none */
  readonly bodyLimit?: number | ((call: Call) => BodyLimit)
  handle(call: Call): Promise<Answer> | Answer
}

/** Makes the operations' context for a request's caller. */
export type MakeContext = (actor: Actor) => Context
