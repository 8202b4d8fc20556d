import type { Logger } from 'pino'
import type { App } from '../app.ts'
import { createChannel } from '../channels/channel.ts'
import { gitRoutes } from '../channels/git/git-routes.ts'
import { langfuseRoutes } from '../channels/langfuse.ts'
import { marketplaceRoutes, wellKnownRoutes } from '../channels/marketplace.ts'
import { promptsChatRoutes } from '../channels/prompts-chat.ts'
import { type Config, readProduct } from '../config/load-config.ts'
import { type Actor, ANONYMOUS } from '../domain/people/actor.ts'
import type { LoadFigures, ServiceStatus, SettingState } from '../domain/service/service.ts'
import { jsonAnswer } from '../exchange.ts'
import { createAdmission, createTurns, QUEUE_LIMITS } from '../http/admission.ts'
import { createCompression, createPieceSender, HTTP_STATUS } from '../http/answers.ts'
import { createBodyReader } from '../http/body.ts'
import { downloadRoutes } from '../http/downloads.ts'
import { createClientReader, MCP_PATH } from '../http/guards.ts'
import { healthRoutes } from '../http/health.ts'
import {
  type BackupFigures,
  backupMetrics,
  createRequestCounts,
  encoderMetrics,
  KEPT_MS,
  keepFor,
  libraryMetrics,
  loadMetrics,
  metricsRoute,
  providerMetrics,
  storeMetrics,
} from '../http/metrics.ts'
import { createOpenApi } from '../http/openapi.ts'
import { createPageCache } from '../http/page-cache.ts'
import { createRateLimits } from '../http/rate-limits.ts'
import { operationRoutes } from '../http/rest.ts'
import { type BoundRoute, createRouter } from '../http/route.ts'
import type { Extras } from '../mcp/dispatcher.ts'
import { embedRoutes } from '../web/embed/routes.ts'
import { feedRoutes } from '../web/feeds.ts'
import { createLanguageReader } from '../web/language.ts'
import { createPages, describePage } from '../web/serve-pages.ts'
import { createFaultLog, type ReportFault } from './fault-log.ts'
import { createMcpRoutes, oauthRoutes } from './mcp-routes.ts'
import { createPipeline } from './pipeline.ts'

/** Options of a process or a test besides the settings. */
export interface HttpOptions {
  /** False makes /readyz say that the service is stopping. */
  readonly isReady?: () => boolean
  /** Additional MCP tools and prompts: the conformance fixtures. */
  readonly extras?: Extras
  /** The scheduled backups of the process. */
  readonly backups?: BackupFigures | undefined
  /** The settings in force, as administrators see them. Default: none are shown */
  readonly settings?: readonly SettingState[]
}

/** The HTTP surface. */
export type HttpApp = ReturnType<typeof createHttpApp>

/** The whole HTTP surface over an opened library: the route table behind the pipeline. */
export function createHttpApp(app: App, settings: Config, logger: Logger, options: HttpOptions = {}) {
  const { baseUrl, operations, provider, itemEncoding } = app
  const forRest = (actor: Actor) => app.contextFor(actor, 'rest')
  const product = readProduct()
  const hasMcp = settings.MCP_ENABLED
  const oauth = hasMcp ? app.oauth : null
  const hasOAuth = oauth !== null
  const isForMembers = settings.LIBRARY_ACCESS === 'members'
  const hasPublicItems = settings.PUBLIC_ITEMS
  const requests = settings.METRICS_TOKEN === null ? null : createRequestCounts()
  const turns = createTurns()
  const faults = createFaultLog(logger)
  const onFault: ReportFault = (error, requestId) => {
    if (HTTP_STATUS[error.code] >= 500) app.uses?.add({ kind: 'error', surface: 'service', itemId: null, version: null, keyId: null })
    faults.report(error, requestId)
  }
  const admission = createAdmission()
  const { backups, settings: shown = [] } = options
  const startedAt = new Date(app.clock()).toISOString()
  const embeddings = () => (provider === null ? 'off' : provider.fault() === null ? 'ok' : 'degraded')
  const readLibrary = keepFor(KEPT_MS, () => app.store.service.readFigures(), { isLasting: ({ search }) => search.isReady })
  const readLoad = (): LoadFigures => {
    const { running, waiting, streams } = admission.counts()
    return { running, streams, waiting: { admission: waiting, turns: turns.countWaiting() } }
  }
  const readStatus = async (): Promise<ServiceStatus> => ({
    ...(await app.store.service.readFigures()),
    ...readLoad(),
    version: product.version,
    startedAt,
    backups: backups ? { lastAt: backups.lastBackup()?.toISOString() ?? null, failures: backups.failures() } : null,
    embeddings: embeddings(),
    encoder: await readEncoder(itemEncoding),
    faults: faults.recent(),
    settings: shown,
  })
  const languageOf = createLanguageReader({ baseUrl, defaultLanguage: settings.DEFAULT_LANGUAGE })
  const cache = createPageCache(
    () => app.store.service.readRevision('public'),
    (language) => describePage(language),
    languageOf,
    app.contextFor(ANONYMOUS, 'web').count,
  )
  const about = { name: product.title, version: product.version, openapi: `${baseUrl}/api/openapi.json` }
  const describeService = () => jsonAnswer({ ...about, ...(hasMcp && { mcp: `${baseUrl}${MCP_PATH}` }) })
  const pages = createPages(
    (actor) => ({ ...app.contextFor(actor, 'web'), readStatus }),
    { onFault, cache, languageOf, describeService },
    { name: product.title, baseUrl, hasMcp, hasOAuth, isForMembers, hasPublicItems },
  )
  const mcp = hasMcp ? createMcpRoutes(app, product, onFault, options.extras) : null

  const embeds = embedRoutes((actor) => app.contextFor(actor, 'embed'), {
    words: pages.words,
    url: pages.files.url,
    answerFile: pages.files.answer,
    name: product.title,
    baseUrl,
    hasMcp,
    isForMembers,
    frameAncestors: settings.EMBED_FRAME_ANCESTORS,
  })
  const sendPieces = createPieceSender()
  const readRevision = () => app.store.service.readRevision('library')
  const channel = createChannel({
    makeContext: (actor) => app.contextFor(actor, 'channel'),
    readRevision,
    name: product.title,
    baseUrl,
  })
  const git = gitRoutes(channel, () => app.store.service.readRevision('library'))
  const document = JSON.stringify(createOpenApi(operations, { version: product.version, baseUrl, hasMcp }))
  const metrics = [
    ...libraryMetrics(product.version, readLibrary),
    ...loadMetrics(readLoad, faults.counts),
    ...storeMetrics(app.store.service),
    ...(backups ? backupMetrics(backups) : []),
    ...(provider ? providerMetrics(provider) : []),
    ...(itemEncoding ? encoderMetrics(itemEncoding) : []),
  ]
  const router = createRouter<BoundRoute>([
    ...healthRoutes({
      check: () => app.store.service.check(),
      loadSearch: () => app.store.service.loadSearch(),
      isSearchCut: () => app.store.service.isSearchCut(),
      onFault,
      isReady: options.isReady ?? (() => true),
      embeddings,
      encoder: () => itemEncoding?.state ?? 'off',
    }),
    metricsRoute(settings.METRICS_TOKEN, metrics, requests),
    ...(mcp?.routes ?? []),
    ...(oauth ? oauthRoutes(oauth, { baseUrl, name: product.title }) : []),
    {
      method: 'GET',
      path: '/api/openapi.json',
      kind: 'rest',
      cost: 1,
      handle: () => ({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: document }),
    },
    ...operationRoutes(operations, forRest, onFault),
    ...langfuseRoutes(forRest),
    ...wellKnownRoutes(channel),
    ...marketplaceRoutes(channel),
    ...git.routes,
    ...promptsChatRoutes(channel, {
      readRevision: () => app.store.service.readRevision('public'),
      sendPieces,
      maxDumped: settings.DUMP_LIMIT,
    }),
    ...pages.routes,
    ...feedRoutes(forRest, { name: product.title, baseUrl, isForMembers }),
    ...embeds,
    ...downloadRoutes((surface) => (actor) => app.contextFor(actor, surface), sendPieces),
  ])
  const pipeline = createPipeline({
    router,
    isForMembers,
    hasPublicItems,
    rules: { baseUrl, allowedHosts: settings.ALLOWED_HOSTS, allowedOrigins: settings.ALLOWED_ORIGINS },
    limits: createRateLimits(settings.RATE_LIMITS, app.store.instances.isShared ? { store: app.store.instances, clock: app.clock } : null),
    admission,
    queue: createAdmission(QUEUE_LIMITS),
    turns,
    readBytes: createBodyReader(),
    compress: createCompression(),
    requests,
    logger,
    clientOf: createClientReader(settings.TRUST_PROXY),
    meterWork: (meter, work) => app.store.service.meterWork(meter, work),
    authenticate: app.authenticate,
    oauth,
    authenticateInstallLink: app.authenticateInstallLink,
    authenticateBrowser: app.logins.authenticateBrowser,
    proxy: app.proxy,
    toProblem: pages.toProblem,
    onFault,
  })
  return {
    pipeline,
    turns,
    /** THE route table: every method and path that is answered. */
    routes: router.routes,
    async close() {
      pages.close()
      await git.close()
      await mcp?.close()
    },
  }
}

async function readEncoder(itemEncoding: App['itemEncoding']): Promise<ServiceStatus['encoder']> {
  if (!itemEncoding) return null
  const { embedded, total } = await itemEncoding.countItems()
  return { state: itemEncoding.state, embedded, total }
}
