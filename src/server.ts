import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import type { App } from './app.ts'
import { readApiKey } from './auth/authenticate.ts'
import type { Config } from './config.ts'
import { AppError, toAppError } from './errors.ts'
import { createBodyReaders, type ReadBody } from './http/body.ts'
import { createClientReader } from './http/client-of-request.ts'
import { createCompression } from './http/compression.ts'
import { addCorsAndCaching, type CorsRules, isRead, preflight } from './http/cors.ts'
import { databaseMetrics } from './http/database-metrics.ts'
import { createPieceSender } from './http/download.ts'
import { embeddingMetrics } from './http/embedding-metrics.ts'
import { errorHeaders, HTTP_STATUS, toErrorResponse } from './http/errors.ts'
import { checkHost, checkOrigin, clientAddress } from './http/guards.ts'
import { createKeptPages } from './http/kept-pages.ts'
import { createLeanLane, type LeanCall, type LeanHandler, type LeanLane, takeLeanLane } from './http/lean-lane.ts'
import { addMetricsRoute, createRequestCounts } from './http/metrics.ts'
import { createOpenApi } from './http/openapi.ts'
import { callerOfAddress, createRateLimits, type RateLimits } from './http/rate-limits.ts'
import { addOperationRoutes, createLeanReads, type HttpEnv, toPathPattern } from './http/rest.ts'
import { addAccountExportRoute } from './http/routes/account-export.ts'
import { addHealthRoutes } from './http/routes/health.ts'
import { addRawRoutes } from './http/routes/raw-files.ts'
import { addSkillZipRoute } from './http/routes/skill-zip.ts'
import { type Actor, ANONYMOUS } from './library/actor.ts'
import type { ItemKind } from './library/items.ts'
import { createMcpEndpoint, type McpEndpoint, readPromptFilter, SESSION_HEADER, sessionOwner } from './mcp/endpoint.ts'
import { toErrorBody } from './mcp/errors.ts'
import { createLeanCalls } from './mcp/lean-calls.ts'
import { createServerFactory, type Extras } from './mcp/server-factory.ts'
import { createSessions } from './mcp/sessions.ts'
import { invokeLocally } from './operations/invoke.ts'
import { readProduct } from './product.ts'
import { addEmbeds, isEmbedPath } from './web/embed/routes.ts'
import { addFeeds } from './web/feeds.ts'
import { createPages, describePage } from './web/routes.ts'

const MCP_PATH = '/api/mcp'
/** Where files are had: by programs with their keys, and by people who are signed in, for what is theirs alone. */
const DOWNLOADS = ['/api', '/download'] as const
/** What every answer says that names no policy of its own: it is no page, and stands in none. */
const CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"
/** Paths that answer under any host name: probes come in by address. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics'])
/** Longest time a client may take to send its request. */
const REQUEST_TIMEOUT_MS = 30_000
/** How often that is looked at. */
const TIMEOUT_CHECK_MS = 5_000
/** How long open requests may finish after a stop was asked for. */
const DRAIN_MS = 5_000
/** Changes within this are told together. */
const TELL_AFTER_MS = 500

/** What the server needs of the settings. */
export type ServerSettings = Pick<
  Config,
  | 'HOST'
  | 'PORT'
  | 'MCP_ENABLED'
  | 'ALLOWED_HOSTS'
  | 'ALLOWED_ORIGINS'
  | 'RATE_LIMITS'
  | 'TRUST_PROXY'
  | 'METRICS_TOKEN'
  | 'EMBED_FRAME_ANCESTORS'
>

/** What a process or a test may say beside the settings. */
export interface HttpOptions {
  /** False makes /readyz say that the service is stopping. */
  readonly isReady?: () => boolean
  /** MCP tools and prompts beside those of the operations: the conformance fixtures of the tests. */
  readonly extras?: Extras
}

/** The HTTP surface. */
export interface HttpApp {
  /** Answers every request. */
  fetch(request: Request, env?: object): Promise<Response>
  /** Answers plain requests in a shorter way, and in the same words; null: `fetch` must be asked. */
  readonly lean: LeanLane
  /** Takes in what another instance wrote to this one. */
  receive(mail: string): void
  close(): Promise<void>
}

/** The whole HTTP surface over an opened library. */
export function createHttpApp(app: App, settings: ServerSettings, logger: Logger, options: HttpOptions = {}): HttpApp {
  const rules: CorsRules = {
    baseUrl: app.baseUrl,
    allowedHosts: settings.ALLOWED_HOSTS,
    allowedOrigins: settings.ALLOWED_ORIGINS,
    mcpPath: MCP_PATH,
    isPage,
  }
  const http = new Hono<HttpEnv>()
  const product = readProduct()
  const clientOf = createClientReader(settings, app.baseUrl, isPage)

  const limits = createRateLimits(settings.RATE_LIMITS, app.store.isShared ? { store: app.store, clock: app.clock } : null)
  const { readBody, readBytes } = createBodyReaders()
  const requests = settings.METRICS_TOKEN === null ? null : createRequestCounts()
  /** What an operator must hear of. The sentence of a service that failed holds neither keys nor prompts; its cause might. */
  const logFault = (error: AppError, requestId: string) => {
    if (error.code === 'internal') logger.error({ requestId, err: error.cause ?? error }, 'Internal error')
    else if (error.code === 'upstream_failed') logger.warn({ requestId }, error.message)
  }

  /** Notes who is calling, and counts it: a key for itself, everybody else by address; a bad key counts for its address. */
  async function identify(c: Context<HttpEnv>): Promise<void> {
    const address = c.get('client').caller
    c.set('caller', address)
    if (isPage(c.req.path)) {
      const { actor, cookies } = await app.logins.authenticateBrowser(c.get('client'))
      c.set('cookies', cookies)
      if (actor?.kind === 'user') {
        c.set('actor', actor)
        c.set('caller', `person ${actor.userId}`)
      }
    }
    const key = c.req.path.startsWith('/api/') ? readApiKey(c.req.raw.headers) : null
    if (key !== null) {
      const { actor, caller } = await identifyKey(key, address)
      c.set('actor', actor)
      c.set('caller', caller)
    }
    await limits.count(c.get('caller'))
  }
  /** Who presents a key, counted for itself; a bad key counts for its address. */
  async function identifyKey(key: string, address: string): Promise<{ actor: Actor; caller: string }> {
    const actor = await app.authenticate(key).catch(async (error: unknown) => {
      await limits.count(address)
      throw error
    })
    return { actor, caller: actor.kind === 'user' ? `key ${actor.keyId ?? actor.userId}` : address }
  }

  http.use(async (c, next) => {
    const requestId = randomUUID()
    c.set('requestId', requestId)
    c.set('actor', ANONYMOUS)
    c.set('client', clientOf(c))
    c.set('cookies', [])
    c.set('operations', new Set())
    const started = performance.now()
    await next()
    requests?.count(c.req.path, c.res.status, performance.now() - started)
    c.header('X-Request-Id', requestId)
    const { method, path } = c.req
    if (method !== 'OPTIONS') addCorsAndCaching(c.res.headers, { method, path, header: (name) => c.req.header(name) }, rules)
    if (isPage(c.req.path) && (c.get('actor').kind === 'user' || c.get('cookies').length > 0)) {
      c.header('Cache-Control', 'private, no-store')
    }
    for (const cookie of c.get('cookies')) c.header('Set-Cookie', cookie, { append: true })
    c.header('X-Content-Type-Options', 'nosniff')
    if (!c.res.headers.has('Content-Security-Policy')) c.header('Content-Security-Policy', CONTENT_POLICY)
    logRequest(
      {
        requestId,
        method,
        path,
        status: c.res.status,
        client: c.get('client').address,
        actor: c.get('actor'),
        operations: c.get('operations'),
      },
      started,
    )
  })
  const logRequest = (
    told: {
      requestId: string
      method: string
      path: string
      status: number
      client: string
      actor: Actor
      operations: ReadonlySet<string>
    },
    startedMs: number,
  ) => {
    if (!logger.isLevelEnabled('info')) return
    const { client, actor, operations, ...request } = told
    logger.info({
      ...request,
      ms: Math.round(performance.now() - startedMs),
      client,
      caller: nameActor(actor),
      ...(operations.size > 0 ? { operations: [...operations] } : {}),
    })
  }

  // Who may come in, and who is calling: host first, then origin (for what a page may not do), then the key.
  http.use(async (c, next) => {
    const { path, method } = c.req
    if (PROBES.has(path)) return await next()
    checkHost(c.req.header('host') ?? null, rules)
    const origin = c.req.header('origin') ?? null
    if (method === 'OPTIONS') return preflight(path, origin, c.req.header('access-control-request-method') ?? '', rules)
    if (path === MCP_PATH && !isMcpCall(method, c.req.header(SESSION_HEADER))) return await next()
    if (path === MCP_PATH || !isRead(method)) checkOrigin(origin, rules)
    await identify(c)
    await limits.run(c.get('caller'), next)
  })

  const kept = createKeptPages(() => app.store.readVersion(), describePage)
  const pages = createPages(
    app.operations,
    app.contextFor,
    { readBytes, onFault: logFault, kept },
    { name: product.title, baseUrl: app.baseUrl, hasMcp: settings.MCP_ENABLED },
  )
  http.onError(async (thrown, c) => {
    const requestId = c.get('requestId')
    const error = toAppError(thrown)
    logFault(error, requestId)
    if (c.req.path === MCP_PATH && settings.MCP_ENABLED) {
      return Response.json(toErrorBody(error, requestId), { status: HTTP_STATUS[error.code], headers: errorHeaders(error) })
    }
    return (await pages.toProblem(c, error)) ?? toErrorResponse(error, requestId)
  })

  const { embeddings } = app
  addHealthRoutes(http, {
    check: () => app.store.ping(),
    isReady: options.isReady ?? (() => true),
    embeddings: () => (embeddings === null ? 'off' : embeddings.isUp ? 'ok' : 'degraded'),
  })
  if (settings.METRICS_TOKEN !== null && requests) {
    const ofEmbeddings = embeddings ? embeddingMetrics(embeddings, () => app.store.countEmbeddings(embeddings.model)) : []
    addMetricsRoute(http, settings.METRICS_TOKEN, [...requests.metrics, ...databaseMetrics(app.store), ...ofEmbeddings])
  }
  const document = JSON.stringify(
    createOpenApi(app.operations, { version: product.version, baseUrl: app.baseUrl, hasMcp: settings.MCP_ENABLED }),
  )
  http.get('/api/openapi.json', (c) => c.body(document, 200, { 'Content-Type': 'application/json; charset=utf-8' }))
  const feedPaths = addFeeds(http, app.operations, app.contextFor, { name: product.title, baseUrl: app.baseUrl })
  const embedPaths = addEmbeds(http, app.operations, app.contextFor, {
    words: pages.words,
    url: pages.files.url,
    answerFile: pages.files.answer,
    name: product.title,
    baseUrl: app.baseUrl,
    hasMcp: settings.MCP_ENABLED,
    frameAncestors: settings.EMBED_FRAME_ANCESTORS,
  })
  const pageRoutes = pages.add(http)
  http.get('/', (c) =>
    c.json({
      name: product.title,
      version: product.version,
      openapi: `${app.baseUrl}/api/openapi.json`,
      ...(settings.MCP_ENABLED ? { mcp: `${app.baseUrl}${MCP_PATH}` } : {}),
    }),
  )
  const mcp = settings.MCP_ENABLED ? addMcpRoutes(http, app, logger, { readBody, limits, extras: options.extras }) : null
  addOperationRoutes(http, app.operations, app.contextFor, readBody, logFault)
  const sendPieces = createPieceSender()
  for (const prefix of DOWNLOADS) {
    addRawRoutes(http, app.operations, app.contextFor, prefix)
    addSkillZipRoute(http, app.operations, app.contextFor, prefix, sendPieces)
  }
  addAccountExportRoute(http, app.operations, app.contextFor, sendPieces)

  const known = knownRoutes(app, [
    ...pageRoutes,
    ...[...feedPaths, ...embedPaths].map((path) => ({ method: 'GET', path })),
    ...(requests ? [{ method: 'GET', path: '/metrics' }] : []),
  ])
  http.notFound(async (c) => {
    const allow = known
      .filter((route) => route.pattern.test(c.req.path))
      .map((route) => route.method)
      .toSorted()
    if (allow.length > 0) {
      const error = new AppError('method_not_allowed', `${c.req.method} is not possible here; use ${allow.join(', ')}.`)
      return toErrorResponse(error, c.get('requestId'), { Allow: allow.join(', ') })
    }
    const error = new AppError('not_found', 'There is nothing at this address.')
    return (await pages.toProblem(c, error)) ?? toErrorResponse(error, c.get('requestId'))
  })
  const { compressAnswer, compressLean } = createCompression()
  // Of the request before: most come by the same name, and many from the same place.
  let lastHost = ''
  let last = { client: '', caller: callerOfAddress('') }
  const lean = createLeanLane([...(mcp?.lean ? [mcp.lean] : []), createLeanReads(app.operations, app.contextFor), kept.lean], {
    checkHost(host) {
      if (host === lastHost) return
      checkHost(host, rules)
      lastHost = host
    },
    callerOf(address, forwardedFor) {
      const client = clientAddress(address, forwardedFor, settings.TRUST_PROXY)
      if (client !== last.client) last = { client, caller: callerOfAddress(client) }
      return last.caller
    },
    identify: identifyKey,
    async admit(caller, work) {
      await limits.count(caller)
      return await limits.run(caller, work)
    },
    finish({ method, path, headers, address }, answer, { actor, operations, requestId, startedMs }) {
      const told = new Map(Object.entries(answer.headers))
      const set = (name: string, value: string) => told.set(name.toLowerCase(), value)
      addCorsAndCaching(
        { has: (name) => told.has(name.toLowerCase()), set },
        { method, path, header: (name) => headers.get(name.toLowerCase()) },
        rules,
      )
      if (!told.has('content-security-policy')) set('content-security-policy', CONTENT_POLICY)
      set('x-content-type-options', 'nosniff')
      set('x-request-id', requestId)
      const { status, body } = answer
      requests?.count(path, status, performance.now() - startedMs)
      const client = clientAddress(address, headers.get('x-forwarded-for') ?? null, settings.TRUST_PROXY)
      logRequest({ requestId, method, path, status, client, actor, operations }, startedMs)
      return compressLean(headers.get('accept-encoding') ?? null, { status, headers: Object.fromEntries(told), body })
    },
    onFault: logFault,
  })
  return {
    fetch: async (request, env) => await compressAnswer(request, await http.fetch(request, env)),
    lean,
    receive: (mail) => mcp?.receive(mail),
    async close() {
      pages.close()
      await mcp?.close()
    },
  }
}

/** Every method and path there is, to tell a wrong method from a wrong address. */
function knownRoutes(app: App, more: readonly { method: string; path: string }[]): { method: string; pattern: RegExp }[] {
  const files = ['/prompts/{id}/raw', '/prompts/{id}/prompt.md', '/skills/{skillId}/files/{filename}', '/skills/{skillId}/zip']
  const downloads = DOWNLOADS.flatMap((prefix) => files.map((path) => `${prefix}${path}`))
  const plain = ['/', '/healthz', '/readyz', '/api/openapi.json', '/settings/data/export.zip', ...downloads]
  const routes = [
    ...app.operations.flatMap(({ surfaces: { rest } }) => (rest ? [{ method: rest.method, path: rest.path }] : [])),
    ...plain.map((path) => ({ method: 'GET', path })),
    ...more,
  ]
  return routes.map(({ method, path }) => ({ method, pattern: toPathPattern(path) }))
}

/** POST is always a call; GET and DELETE only with a session. Everything else is 405 before anybody asks who is calling. */
function isMcpCall(method: string, sessionId: string | undefined): boolean {
  return method === 'POST' || ((method === 'GET' || method === 'DELETE') && sessionId !== undefined)
}

function addMcpRoutes(
  http: Hono<HttpEnv>,
  app: App,
  logger: Logger,
  { readBody, limits, extras }: { readBody: ReadBody; limits: RateLimits; extras: Extras | undefined },
): { lean: LeanHandler | null; receive(mail: string): void; close(): Promise<void> } {
  const { name, title, version } = readProduct()
  const buildServer = createServerFactory(app.operations, { name, title, version }, extras)
  const mcp = createMcpEndpoint(
    buildServer,
    createSessions(app.store, buildServer, (error) => logger.error({ err: error.cause ?? error }, 'Internal error')),
    { alwaysStream: extras !== undefined },
  )
  const stopTelling = tellOfChanges(app, mcp)
  const names = new Set(app.operations.map((operation) => operation.name))
  const bind = ({ actor, requestId, operations }: LeanCall, query: URLSearchParams) => {
    const context = app.contextFor(actor)
    const invoke = invokeLocally(app.operations, () => context)
    return {
      // A tool that fails answers 200, so nothing after it hears of the failure.
      invoke: async (...call: Parameters<typeof invoke>) => {
        // Names of our own alone: the log holds nothing a client wrote but the path.
        if (names.has(call[0])) operations.add(call[0])
        return await invoke(...call).catch((thrown: unknown) => {
          const error = toAppError(thrown)
          if (error.code === 'upstream_failed') logger.warn({ requestId }, error.message)
          throw thrown
        })
      },
      filter: readPromptFilter(query),
      onInternalError: (error: AppError) => logger.error({ requestId, err: error.cause ?? error }, 'Internal error'),
    }
  }
  const toCall = (c: Context<HttpEnv>) => {
    const [requestId, actor] = [c.get('requestId'), c.get('actor')]
    return {
      request: c.req.raw,
      requestId,
      owner: sessionOwner(actor, c.get('caller')),
      charge: (requests: number) => limits.count(c.get('caller'), requests),
      binding: bind({ requestId, actor, operations: c.get('operations') }, new URL(c.req.url).searchParams),
    }
  }
  const readLeanCall = createLeanCalls(app.operations, buildServer)
  const lean: LeanHandler = {
    accept({ method, path, search, headers, body }) {
      const answer = method === 'POST' && path === MCP_PATH ? readLeanCall(headers, body) : null
      if (!answer) return null
      return async (call) => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: await answer(bind(call, new URLSearchParams(search))),
      })
    },
    refuse: (error, requestId) => ({
      status: HTTP_STATUS[error.code],
      headers: { 'content-type': 'application/json', ...errorHeaders(error) },
      body: JSON.stringify(toErrorBody(error, requestId)),
    }),
  }
  http.post(MCP_PATH, async (c) => await mcp.post({ ...toCall(c), body: await readBody(c.req.raw) }))
  http.all(MCP_PATH, async (c) => {
    if (isMcpCall(c.req.method, c.req.header(SESSION_HEADER))) return await mcp.session(toCall(c))
    const error = new AppError('method_not_allowed', 'This endpoint takes POST; GET and DELETE need a session that initialize opened.')
    return Response.json(toErrorBody(error, c.get('requestId')), { status: 405, headers: { Allow: 'POST, OPTIONS' } })
  })
  return {
    receive: mcp.receive,
    // What the tests add is the SDK's to answer.
    lean: extras === undefined ? lean : null,
    async close() {
      stopTelling()
      await mcp.close()
    },
  }
}

/** Tells clients that listen of what changed: many changes at once are told once. Returns how to stop. */
function tellOfChanges(app: App, mcp: McpEndpoint): () => void {
  const pending = new Map<ItemKind, { isPublic: boolean; readonly userIds: Set<string>; readonly timer: NodeJS.Timeout }>()
  const stop = app.onChange(({ kind, ownerId, isPublic }) => {
    const known = pending.get(kind)
    if (known) {
      known.isPublic ||= isPublic
      known.userIds.add(ownerId)
      return
    }
    const timer = setTimeout(() => {
      const change = pending.get(kind)
      pending.delete(kind)
      if (change) mcp.notify({ kind, isPublic: change.isPublic, userIds: change.userIds })
    }, TELL_AFTER_MS)
    timer.unref()
    pending.set(kind, { isPublic, userIds: new Set([ownerId]), timer })
  })
  return () => {
    stop()
    for (const { timer } of pending.values()) clearTimeout(timer)
  }
}

/** Who asked, as the log says it. */
function nameActor(actor: Actor): string {
  if (actor.kind === 'anonymous') return 'anonymous'
  return actor.keyId === undefined ? `person ${actor.userId}` : `key ${actor.keyId}`
}

/** Where people are known by their session. Below /api/ cookies are never read (contract, "Keys"), nor in frames on other people's pages. */
function isPage(path: string): boolean {
  return !path.startsWith('/api/') && !path.startsWith('/static/') && !isEmbedPath(path) && !PROBES.has(path)
}

/** A server that listens; `close` lets open requests finish for a moment. */
export interface RunningServer {
  close(): Promise<void>
}

/** Starts listening. @throws AppError `unavailable` when the port is taken or not allowed */
export async function startServer(
  app: App,
  settings: ServerSettings,
  logger: Logger,
  options: Pick<HttpOptions, 'extras'> = {},
): Promise<RunningServer> {
  let isReady = true
  const http = createHttpApp(app, settings, logger, { ...options, isReady: () => isReady })
  const timeouts = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  }
  const server = createServer(timeouts, takeLeanLane(http.lean, getRequestListener(http.fetch)))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new AppError('unavailable', `Could not listen on ${settings.HOST}:${settings.PORT}: ${error.message}. Set PORT or HOST.`, {
          cause: error,
        }),
      ),
    )
    server.listen(settings.PORT, settings.HOST, resolve)
  })
  app.embeddings?.start((message) => logger.warn(message))
  const stopListening = app.listen(http.receive)
  return {
    async close() {
      isReady = false
      await app.embeddings?.stop()
      await http.close()
      await stopListening()
      await new Promise<void>((resolve) => {
        const giveUp = setTimeout(() => {
          server.closeAllConnections()
        }, DRAIN_MS)
        server.close(() => {
          clearTimeout(giveUp)
          resolve()
        })
        server.closeIdleConnections()
      })
    },
  }
}
