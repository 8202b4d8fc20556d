import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { BoundRoute } from '../call.ts'
import type { RouteKind } from '../route.ts'

/** One number, or one for each set of labels. */
interface Sample {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** What is measured; read when somebody asks. Names as Prometheus wants them: a unit at the end, `_total` for what only grows. */
export interface Metric {
  readonly name: string
  readonly help: string
  /** `counter` for what only grows, `gauge` for what goes up and down. */
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

/** Ends of the stretches that durations are counted in, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, Number.POSITIVE_INFINITY]

/** Counts answered requests by kind of address and status, and how long they took. */
export interface RequestCounts {
  count(kind: RouteKind, path: string, status: number, durationMs: number): void
  readonly metrics: readonly Metric[]
}

/** Nothing counted yet. */
export function createRequestCounts(): RequestCounts {
  const counts = new Map<string, { readonly labels: { readonly route: string; readonly status: string }; value: number }>()
  const durations = new Map<string, { readonly buckets: number[]; seconds: number }>()
  const ofRoutes = (read: (one: { readonly buckets: readonly number[]; readonly seconds: number }) => number) => () =>
    [...durations].map(([route, one]) => ({ labels: { route }, value: read(one) }))
  const duration = 'commonplace_http_request_duration_seconds'
  return {
    count(kind, path, status, durationMs) {
      const route = routeLabel(kind, path)
      const seconds = durationMs / 1000
      const taken = durations.get(route) ?? { buckets: BUCKETS.map(() => 0), seconds: 0 }
      durations.set(route, taken)
      taken.seconds += seconds
      const bucket = BUCKETS.findIndex((end) => seconds <= end)
      taken.buckets[bucket] = (taken.buckets[bucket] ?? 0) + 1
      const key = `${route} ${status}`
      const known = counts.get(key)
      if (known) known.value++
      else counts.set(key, { labels: { route, status: String(status) }, value: 1 })
    },
    metrics: [
      {
        name: 'commonplace_http_requests_total',
        help: 'Requests answered, by kind of address (mcp, rest, probe, other) and status',
        kind: 'counter',
        labels: ['route', 'status'],
        read: () => [...counts.values()],
      },
      // The parts of a histogram, as functions over histograms read them.
      {
        name: `${duration}_bucket`,
        help: 'Requests answered within so many seconds (le), by kind of address',
        kind: 'counter',
        labels: ['route', 'le'],
        read: () =>
          [...durations].flatMap(([route, { buckets }]) => {
            let within = 0
            return BUCKETS.map((end, place) => {
              within += buckets[place] ?? 0
              return { labels: { route, le: end === Number.POSITIVE_INFINITY ? '+Inf' : String(end) }, value: within }
            })
          }),
      },
      {
        name: `${duration}_sum`,
        help: 'Seconds requests took in all',
        kind: 'counter',
        labels: ['route'],
        read: ofRoutes((one) => one.seconds),
      },
      {
        name: `${duration}_count`,
        help: 'Requests whose duration was counted',
        kind: 'counter',
        labels: ['route'],
        read: ofRoutes((one) => one.buckets.reduce((sum, count) => sum + count, 0)),
      },
    ],
  }
}

/**
 * `/metrics` in Prometheus' text format, with the process's own metrics. Answers 404 when `token` is null.
 * prom-client is loaded at the first request.
 */
export function metricsRoute(token: string | null, metrics: readonly Metric[]): BoundRoute {
  let loading: ReturnType<typeof loadRegistry> | undefined
  return {
    method: 'GET',
    path: '/metrics',
    kind: 'probe',
    cost: 0,
    async handle({ exchange }) {
      if (token === null) throw new AppError('not_found', 'There is nothing at this address.')
      checkToken(exchange.header('authorization') ?? '', token)
      loading ??= loadRegistry(metrics)
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
    throw new AppError('unauthenticated', 'Metrics need the token of the setting METRICS_TOKEN, in the header Authorization: Bearer TOKEN.')
  }
}

/** Metrics as prom-client keeps them. */
export async function loadRegistry(metrics: readonly Metric[]) {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
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
