import type { App } from '../app.ts'
import type { OAuthAnswer, OAuthServer } from '../auth/oauth/oauth-server.ts'
import type { Product } from '../config/load-config.ts'
import type { ItemKind } from '../domain/items/items.ts'
import { type ListAudience, widestAudience } from '../domain/items/visibility.ts'
import { DEFAULT_SCOPES } from '../domain/people/actor.ts'
import { AppError, toAppError } from '../errors.ts'
import { type Answer, type Exchange, jsonAnswer } from '../exchange.ts'
import { decodeBody, MAX_BODY_BYTES } from '../http/body.ts'
import { challenge, isFromProgram, MCP_PATH, RESOURCE_METADATA_PATH, SIGNED_IN_MCP_PATH } from '../http/guards.ts'
import type { BoundRoute, Call } from '../http/route.ts'
import { type Binding, createDispatcher, type Extras } from '../mcp/dispatcher.ts'
import { createMcpEndpoint, type McpEndpoint, sessionOwner } from '../mcp/endpoint.ts'
import { readConnection, toErrorBody } from '../mcp/messages.ts'
import { createSessionTokens } from '../mcp/sessions/session-tokens.ts'
import { createSessions } from '../mcp/sessions/sessions.ts'
import { invokeLocally } from '../operations/core/define-operation.ts'
import type { ReportFault } from './fault-log.ts'

/** The path below the address for a part of the lists, for clients that drop the query. */
const LIST_SCOPES = ['', '/@{user}', '/tags/{tag}', '/categories/{category}', '/collections/{collected}'] as const
/** Debounce window of change notifications. */
const DEBOUNCE_MS = 500

/** The MCP endpoint, bound to the operations. @param extras additional tools and prompts: the conformance fixtures */
export function createMcpRoutes(app: App, { name, title, version }: Product, onFault: ReportFault, extras: Extras | undefined) {
  const dispatcher = createDispatcher(app.operations, { name, title, version }, extras)
  const sessions = createSessions(app.store, createSessionTokens(app.sealer, app.clock), dispatcher.buildServer)
  const mcp = createMcpEndpoint(dispatcher, sessions, { alwaysStream: extras !== undefined })
  const stopNotifying = notifyChanges(app, mcp)
  const names = new Set(app.operations.map((operation) => operation.name))
  const bind = ({ actor, requestId, operations, exchange, params }: Call): Binding => {
    const context = app.contextFor(actor, isProxied(exchange) ? 'mcpBehindProxy' : 'mcp')
    const invoke = invokeLocally(app.operations, () => context)
    return {
      // A failing tool returns 200, so later steps cannot see the failure.
      invoke: async (...args) => {
        // Known names only: the log holds nothing a client wrote but the path.
        if (names.has(args[0])) operations.add(args[0])
        return await invoke(...args).catch((thrown: unknown) => {
          const error = toAppError(thrown)
          if (error.code !== 'internal') onFault(error, requestId)
          throw thrown
        })
      },
      ...readConnection(exchange.search, params),
      onInternalError: (error) => onFault(error, requestId),
      signal: () => exchange.signal(),
    }
  }
  const toMcpCall = (call: Call) => ({
    exchange: call.exchange,
    requestId: call.requestId,
    owner: sessionOwner(call.actor, call.caller),
    charge: call.charge,
    takeTurn: call.takeTurn,
    binding: bind(call),
    refuseTool: (name: unknown) => refuseTool(call, name),
  })
  /** Refuses a tool that the token of a program is not enough for, so that the program asks for more (RFC 6750, section 3.1). */
  const refuseTool = ({ actor, exchange, requestId }: Call, name: unknown): Answer | null => {
    if (actor.kind !== 'user' || !isFromProgram(exchange)) return null
    const needed = DEFAULT_SCOPES.find((scope) => scope === app.operations.find((operation) => operation.name === name)?.scope)
    if (needed === undefined || actor.scopes.has(needed)) return null
    const scopes = [...DEFAULT_SCOPES.filter((scope) => actor.scopes.has(scope)), needed]
    const value = challenge({ error: 'insufficient_scope', baseUrl: app.baseUrl, path: exchange.path, scopes })
    const error = new AppError('forbidden', `${name} needs the permission ${needed}, which this program was not given.`)
    return jsonAnswer(toErrorBody(error, requestId), 403, { 'www-authenticate': value })
  }
  const paths = [MCP_PATH, ...(app.oauth ? [SIGNED_IN_MCP_PATH] : [])].flatMap((base) => LIST_SCOPES.map((scope) => base + scope))
  const routes = paths.flatMap((path): BoundRoute[] => {
    const route = { path, kind: 'mcp', cost: 1 } as const
    return [
      {
        ...route,
        method: 'POST',
        bodyLimit: MAX_BODY_BYTES,
        handle: (call) => mcp.post(toMcpCall(call), decodeBody(call.body)),
      },
      { ...route, method: 'GET', handle: (call) => mcp.session(toMcpCall(call)) },
      { ...route, method: 'DELETE', handle: (call) => mcp.session(toMcpCall(call)) },
    ]
  })
  return {
    routes,
    async close() {
      stopNotifying()
      await mcp.close()
    },
  }
}

/** Announces changes to clients, debounced. Returns a function that stops it. */
function notifyChanges(app: App, mcp: McpEndpoint): () => void {
  const pending = new Map<ItemKind, { audience: ListAudience; readonly userIds: Set<string>; readonly timer: NodeJS.Timeout }>()
  const notify = async (kind: ItemKind, audience: ListAudience, owners: ReadonlySet<string>) => {
    // What is hidden from others concerns the members of the team whose it is.
    const members = audience === 'owner' ? await app.store.items.listMemberIds([...owners]).catch(() => []) : []
    mcp.notify({ kind, audience, userIds: new Set([...owners, ...members]) })
  }
  const stop = app.onChange(({ kind, ownerId, audience, isPurge }) => {
    if (isPurge) mcp.forgetAnswers()
    const owners = pending.get(kind)
    if (owners) {
      owners.audience = widestAudience(owners.audience, audience)
      owners.userIds.add(ownerId)
      return
    }
    const timer = setTimeout(() => {
      const change = pending.get(kind)
      pending.delete(kind)
      if (change) void notify(kind, change.audience, change.userIds)
    }, DEBOUNCE_MS)
    timer.unref()
    pending.set(kind, { audience, userIds: new Set([ownerId]), timer })
  })
  return () => {
    stop()
    for (const { timer } of pending.values()) clearTimeout(timer)
  }
}

/** Headers added by proxies. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip', 'cf-connecting-ip']

function isProxied({ header }: Exchange): boolean {
  return PROXY_HEADERS.some((name) => header(name) !== undefined)
}

/** Largest body of a request for tokens or a registration, in bytes. */
const MAX_BODY = 32 * 1024
/** Longest query of a request to sign in. */
const MAX_QUERY = 6_000
const FORM = 'application/x-www-form-urlencoded'
/** Points of a request that writes, and may fetch the document of a client. */
const COST = 10
/** Seconds for which programs may keep metadata. */
const METADATA_AGE = 'public, max-age=300'

/** The parts of the service that the routes use. */
interface OAuthSite {
  readonly baseUrl: string
  readonly name: string
}

/** The authorization server, and what tells programs of it (channels, section 7; RFC 8414, RFC 9728). */
export function oauthRoutes(oauth: OAuthServer, { baseUrl, name }: OAuthSite): readonly BoundRoute[] {
  const authorize = async (call: Call): Promise<Answer> => {
    const { exchange, actor, client } = call
    const query = exchange.search.slice(1)
    if (query.length > MAX_QUERY) throw new AppError('invalid_input', 'The request of the program is too long.')
    // People sign in first, and come back here.
    if (actor.kind === 'anonymous') return leadTo(`/sign-in?to=${encodeURIComponent(`${exchange.path}${exchange.search}`)}`)
    return toAnswer(await oauth.authorize(new URLSearchParams(query), { userId: actor.userId, client }))
  }
  const readPost = (call: Call) => ({
    type: call.exchange.header('content-type') ?? '',
    authorization: call.exchange.header('authorization'),
    body: decodeBody(call.body),
  })
  const readForm = (call: Call) => {
    const post = readPost(call)
    if (!post.type.toLowerCase().startsWith(FORM)) throw new AppError('unsupported_media_type', `Send the request as ${FORM}.`)
    return { ...post, type: FORM }
  }
  const endpoints = {
    // Clients that know no metadata ask at the root.
    '/oauth2/token /token': async (call: Call) => toAnswer(await oauth.exchange(readForm(call))),
    '/oauth2/revoke': async (call: Call) => toAnswer(await oauth.revoke(readForm(call))),
    '/oauth2/register /register': async (call: Call) =>
      toAnswer(await oauth.register({ ...readPost(call), type: 'application/json' }, call.client.caller)),
  }
  const metadata = { method: 'GET', kind: 'oauth', cost: 1 } as const
  const describeServer = async () => jsonAnswer(await oauth.readMetadata(), 200, { 'cache-control': METADATA_AGE })
  const describeResource = ({ exchange }: Call) => {
    const path = exchange.path.slice(RESOURCE_METADATA_PATH.length)
    const resource = `${baseUrl}${path === '' ? SIGNED_IN_MCP_PATH : path}`
    const described = {
      resource,
      authorization_servers: [baseUrl],
      scopes_supported: [...DEFAULT_SCOPES],
      bearer_methods_supported: ['header'],
      resource_name: name,
    }
    return jsonAnswer(described, 200, { 'cache-control': METADATA_AGE })
  }
  return [
    ...['/oauth2/authorize', '/authorize'].map(
      (path): BoundRoute => ({ method: 'GET', path, kind: 'page', cost: COST, isEntry: true, handle: authorize }),
    ),
    ...Object.entries(endpoints).flatMap(([paths, handle]) =>
      paths.split(' ').map((path): BoundRoute => ({ method: 'POST', path, kind: 'oauth', cost: COST, bodyLimit: MAX_BODY, handle })),
    ),
    { ...metadata, path: '/.well-known/oauth-authorization-server', handle: describeServer },
    // At the root is what programs with an address of their own choice look for: the one that always asks to sign in.
    ...['', ...[SIGNED_IN_MCP_PATH, MCP_PATH].flatMap((base) => LIST_SCOPES.map((scope) => base + scope))].map(
      (path): BoundRoute => ({ ...metadata, path: RESOURCE_METADATA_PATH + path, handle: describeResource }),
    ),
  ]
}

function leadTo(to: string): Answer {
  return { status: 302, headers: { location: to, 'cache-control': 'no-store' }, body: null }
}

function toAnswer(answer: OAuthAnswer): Answer {
  if ('to' in answer) return leadTo(answer.to)
  return {
    status: answer.status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...answer.headers },
    body: answer.json,
  }
}
