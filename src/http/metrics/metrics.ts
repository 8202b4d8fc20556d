import { createHash, timingSafeEqual } from 'node:crypto'
import type { Counter, Histogram } from 'prom-client'
import { AppError } from '../../errors.ts'
import type { BoundRoute } from '../call.ts'
import type { RouteKind } from '../route.ts'

/** One number, or one for each set of labels. */
interface Sample {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** A metric, read at each scrape. Names follow Prometheus: a unit at the end, `_total` for counters. */
export interface Metric {
  readonly name: string
  readonly help: string
  /** `counter` only grows; `gauge` goes up and down. */
  readonly kind: 'counter' | 'gauge'
  /** Names of the labels its samples may have. */
  readonly labels?: readonly string[]
  read(): readonly Sample[] | Promise<readonly Sample[]>
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
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const collector of collectors) registry.registerMetric(collector)
  for (const { name, help, kind, labels = [], read } of metrics) {
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    // What cannot be read has no sample: an operator wants the others most when the library fails.
    const readSamples = async (): Promise<readonly Sample[]> => {
      try {
        return await read()
      } catch {
        return []
      }
    }
    if (kind === 'gauge') {
      const gauge = new Gauge({
        ...options,
        async collect() {
          const samples = await readSamples()
          gauge.reset()
          // Without labels, it would be 0 now.
          if (labels.length === 0) gauge.remove()
          for (const sample of samples) gauge.set(sample.labels ?? {}, sample.value)
        },
      })
    } else {
      const counter = new Counter({
        ...options,
        async collect() {
          const samples = await readSamples()
          counter.reset()
          if (labels.length === 0) counter.remove()
          for (const sample of samples) counter.inc(sample.labels ?? {}, sample.value)
        },
      })
    }
  }
  return registry
}
