import { createHash, timingSafeEqual } from 'node:crypto'
import type { Counter, Gauge, Histogram } from 'prom-client'
import type { VectorCounts } from '../domain/ports/encoder.ts'
import type { FaultCounts, LibraryFigures, LoadFigures } from '../domain/service/service.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import type { BoundRoute, RouteKind } from './route.ts'

/** A number, or one for each set of labels: the number first, then its labels. */
type Reading = number | readonly (readonly [value: number, ...labels: string[]])[]
type Read = () => Reading | Promise<Reading>

/** A metric, read at each scrape. Names follow Prometheus: a unit at the end, `_total` for counters. */
export interface Metric {
  readonly name: string
  readonly help: string
  /** `counter` only grows; `gauge` goes up and down. */
  readonly kind: 'counter' | 'gauge'
  /** Names of the labels. */
  readonly labels: readonly string[]
  readonly read: Read
}

const gauge = (name: string, help: string, read: Read, ...labels: string[]): Metric => ({ kind: 'gauge', name, help, labels, read })
const counter = (name: string, help: string, read: Read, ...labels: string[]): Metric => ({ kind: 'counter', name, help, labels, read })

/** A number for each value of the only label. */
const byLabel = (values: Readonly<Record<string, number>>): Reading => Object.entries(values).map(([label, value]) => [value, label])

/** How the backups of a schedule go. */
export interface BackupFigures {
  /** When the newest one was made; null when there is none. */
  lastBackup(): Date | null
  /** How many could not be made, since the start. */
  failures(): number
}

/** The sources of the encoder's metrics. */
interface EncoderFigures {
  readonly state: 'embedding' | 'ready' | 'fallback'
  readonly counts: { readonly encoded: number; readonly failures: number; readonly failedItems: number }
  countItems(): Promise<VectorCounts>
}

/** The sources of a provider's metrics. */
interface ProviderFigures {
  fault(): string | null
  readonly counts: Readonly<{ sent: number; cached: number; fellBack: number; failedQueries: number; failedItems: number }>
}

/** How long row counts are cached: scrapes are more frequent than changes. */
export const KEPT_MS = 60_000

/**
 * Caches the result of `read` for a while. Concurrent calls share one read; failures are not cached.
 * @param isLasting whether a result may be cached. Default: always
 */
export function keepFor<T>(
  ms: number,
  read: () => Promise<T>,
  { isLasting = () => true, now = () => performance.now() }: { isLasting?: (value: T) => boolean; now?: () => number } = {},
): () => Promise<T> {
  let kept: { readonly until: number; readonly value: Promise<T> } | null = null
  return () => {
    if (kept && kept.until > now()) return kept.value
    const value = read()
    const keeping = { until: now() + ms, value }
    const drop = () => {
      if (kept === keeping) kept = null
    }
    kept = keeping
    value.then((answer) => isLasting(answer) || drop(), drop)
    return value
  }
}

/** Metrics of the library's contents and size; the caller keeps `read`'s answers for a while. */
export function libraryMetrics(version: string, read: () => Promise<LibraryFigures>): readonly Metric[] {
  const of = (pick: (figures: LibraryFigures) => Reading) => async () => pick(await read())
  return [
    gauge(
      'commonplace_build_info',
      'Always 1; labels are the version of the service and its newest migration',
      of(({ schema }) => [[1, version, schema.slice(0, 4)]]),
      'version',
      'schema',
    ),
    gauge(
      'commonplace_items',
      'Items that are not in the trash, by kind (prompt, skill)',
      of(({ prompts, skills }) => byLabel({ prompt: prompts, skill: skills })),
      'kind',
    ),
    gauge(
      'commonplace_trash_items',
      'Items in the trash',
      of(({ inTrash }) => inTrash),
    ),
    gauge(
      'commonplace_library_bytes',
      'Size of the library: of its file, or of the database on the server (data), and of the write-ahead log of a file (log)',
      of(({ database: { bytes, logBytes } }) => [[bytes, 'data'], ...(logBytes === null ? [] : [[logBytes, 'log'] as const])]),
      'part',
    ),
    gauge(
      'commonplace_search_ready',
      '1 when search has loaded the library',
      of(({ search }) => Number(search.isReady)),
    ),
    gauge(
      'commonplace_search_items',
      'Items in the search index of this process',
      of(({ search }) => search.items),
    ),
  ]
}

/** Metrics of this process, read without asking the library. */
export function loadMetrics(load: () => LoadFigures, faults: () => FaultCounts): readonly Metric[] {
  return [
    gauge('commonplace_http_running', 'Requests in progress', () => load().running),
    gauge('commonplace_http_streams', 'Open streams', () => load().streams),
    gauge(
      'commonplace_http_waiting',
      'Waiting requests: for a slot of their caller (admission) or for their turn (turns)',
      () => byLabel(load().waiting),
      'queue',
    ),
    counter(
      'commonplace_library_faults_total',
      'Requests failed by a library fault, by kind (full, readonly, io, damaged, moved, unreachable, other)',
      () => [...faults()].map(([kind, value]) => [value, kind]),
      'kind',
    ),
  ]
}

/** How busy the connections to a database server are, where there is one, and how often public answers came from caches. */
export function storeMetrics({ readUsage, readCacheUse }: Pick<LibraryStore['service'], 'readUsage' | 'readCacheUse'>): readonly Metric[] {
  const usage = () => readUsage() ?? { busy: 0, idle: 0, waiting: 0 }
  const ofServer = [
    gauge(
      'commonplace_database_connections',
      'Database connections of this process, by state (busy, idle)',
      () => byLabel({ busy: usage().busy, idle: usage().idle }),
      'state',
    ),
    gauge('commonplace_database_waiting', 'Statements and transactions of this process waiting for a connection', () => usage().waiting),
  ]
  return [
    ...(readUsage() === null ? [] : ofServer),
    counter(
      'commonplace_cache_lookups_total',
      'Look-ups in caches of public answers, by cache and result (hit, miss)',
      () =>
        readCacheUse().flatMap(({ name, hits, misses }) => [
          [hits, name, 'hit'],
          [misses, name, 'miss'],
        ]),
      'cache',
      'result',
    ),
  ]
}

/** Metrics for an alarm about missing backups. */
export function backupMetrics(figures: BackupFigures): readonly Metric[] {
  return [
    gauge(
      'commonplace_backup_last_success_timestamp_seconds',
      'Time of the newest scheduled backup, in Unix seconds; 0 if none',
      () => (figures.lastBackup()?.getTime() ?? 0) / 1000,
    ),
    counter('commonplace_backup_failures_total', 'Failed scheduled backups', () => figures.failures()),
  ]
}

/** Metrics of the encoder and its work on items, private ones included. */
export function encoderMetrics(figures: EncoderFigures): readonly Metric[] {
  return [
    gauge('commonplace_encoder_up', '1 if the encoder works or starts, 0 if search works without it', () =>
      figures.state === 'fallback' ? 0 : 1,
    ),
    gauge(
      'commonplace_encoder_items',
      'Items that the encoder may read by state of their vector (embedded, pending)',
      async () => {
        const { embedded, pending } = await figures.countItems()
        return byLabel({ embedded, pending })
      },
      'state',
    ),
    counter('commonplace_encoder_embedded_total', 'Items whose vector this process saved', () => figures.counts.encoded),
    counter(
      'commonplace_encoder_failures_total',
      'Failures by cause: the library could not be used (library), the encoder made no vector of an item (item)',
      () => byLabel({ library: figures.counts.failures, item: figures.counts.failedItems }),
      'cause',
    ),
  ]
}

/** How the provider of embeddings does. */
export function providerMetrics(provider: ProviderFigures): readonly Metric[] {
  return [
    gauge('commonplace_embeddings_up', '1 if the last call to the embeddings provider succeeded, 0 if search works without it', () =>
      provider.fault() === null ? 1 : 0,
    ),
    counter(
      'commonplace_embeddings_failures_total',
      'Provider failures, by input (items, queries)',
      () => byLabel({ items: provider.counts.failedItems, queries: provider.counts.failedQueries }),
      'purpose',
    ),
    counter(
      'commonplace_embeddings_queries_total',
      'Queries by source of their embedding: provider, cache or none (fallback)',
      () => byLabel({ sent: provider.counts.sent, remembered: provider.counts.cached, fallback: provider.counts.fellBack }),
      'source',
    ),
  ]
}

/** The label requests are counted under: few enough to count by, and the same whatever kinds are added. */
function routeLabel(kind: RouteKind, path: string): 'mcp' | 'rest' | 'probe' | 'other' {
  if (kind === 'mcp' || kind === 'probe') return kind
  return path.startsWith('/api/') ? 'rest' : 'other'
}

/** Upper bounds of the histogram's buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Counts answered requests by kind of address and status, and how long they took. */
export interface RequestCounts {
  count(kind: RouteKind, path: string, status: number, durationMs: number): void
  /** The counts as prom-client keeps them, for a registry. */
  readonly collectors: Promise<readonly (Counter | Histogram)[]>
}

/** Nothing counted yet. prom-client takes a while to load; requests of that time are counted when it has. */
export function createRequestCounts(): RequestCounts {
  const early: Parameters<RequestCounts['count']>[] = []
  let count: RequestCounts['count'] = (...request) => void early.push(request)
  const load = async () => {
    const prometheus = await import('prom-client')
    const requests = new prometheus.Counter({
      name: 'commonplace_http_requests_total',
      help: 'Requests answered, by kind of address (mcp, rest, probe, other) and status',
      labelNames: ['route', 'status'],
      registers: [],
    })
    const durations = new prometheus.Histogram({
      name: 'commonplace_http_request_duration_seconds',
      help: 'Request duration, by kind of address',
      labelNames: ['route'],
      buckets: BUCKETS,
      registers: [],
    })
    count = (kind, path, status, durationMs) => {
      const route = routeLabel(kind, path)
      requests.inc({ route, status })
      durations.observe({ route }, durationMs / 1000)
    }
    for (const request of early.splice(0)) count(...request)
    return [requests, durations]
  }
  return { count: (...request) => count(...request), collectors: load() }
}

/**
 * `/metrics` in Prometheus' text format, with the process's own metrics. Answers 404 when `token` is null.
 * prom-client is loaded at the first request.
 */
export function metricsRoute(token: string | null, metrics: readonly Metric[], requests: RequestCounts | null = null): BoundRoute {
  let loading: ReturnType<typeof loadRegistry> | undefined
  return {
    method: 'GET',
    path: '/metrics',
    kind: 'probe',
    cost: 0,
    async handle({ exchange }) {
      if (token === null) throw new AppError('not_found', 'Nothing found at this address.')
      checkToken(exchange.header('authorization') ?? '', token)
      loading ??= loadRegistry(metrics, await requests?.collectors)
      const registry = await loading
      return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() }
    },
  }
}

/** Compares digests, in constant time. @throws AppError `unauthenticated` */
function checkToken(header: string, token: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(header) ?? []
  if (!timingSafeEqual(digest(given), digest(token))) {
    throw new AppError('unauthenticated', 'Metrics need the METRICS_TOKEN, sent as Authorization: Bearer TOKEN.')
  }
}

/** Metrics as prom-client keeps them. */
export async function loadRegistry(metrics: readonly Metric[], collectors: readonly (Counter | Histogram)[] = []) {
  const prometheus = await import('prom-client')
  const registry = new prometheus.Registry()
  prometheus.collectDefaultMetrics({ register: registry })
  for (const collector of collectors) registry.registerMetric(collector)
  for (const { name, help, kind, labels, read } of metrics) {
    const update = async (metric: Gauge | Counter, add: (labels: Record<string, string>, value: number) => void) => {
      // What cannot be read has no sample: an operator wants the others most when the library fails.
      const reading = await (async () => await read())().catch(() => [])
      metric.reset()
      // Without labels, it would be 0 now.
      if (labels.length === 0) metric.remove()
      for (const [value, ...texts] of typeof reading === 'number' ? [[reading] as const] : reading) {
        add(Object.fromEntries(labels.map((label, place) => [label, texts[place] ?? ''])), value)
      }
    }
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    if (kind === 'gauge') {
      const metric: Gauge = new prometheus.Gauge({ ...options, collect: () => update(metric, (of, value) => metric.set(of, value)) })
    } else {
      const metric: Counter = new prometheus.Counter({ ...options, collect: () => update(metric, (of, value) => metric.inc(of, value)) })
    }
  }
  return registry
}
