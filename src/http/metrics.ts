import { createHash, timingSafeEqual } from 'node:crypto'
import type { Hono } from 'hono'
import { AppError } from '../errors.ts'
import type { HttpEnv } from './rest.ts'

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

/** What kind of address a path is: few enough to count by. */
function routeClassOf(path: string): 'mcp' | 'rest' | 'probe' | 'other' {
  if (path === '/api/mcp') return 'mcp'
  if (path.startsWith('/api/')) return 'rest'
  return path === '/healthz' || path === '/readyz' || path === '/metrics' ? 'probe' : 'other'
}

/** Counts answered requests by kind of address and status. */
export interface RequestCounts {
  count(path: string, status: number): void
  readonly metric: Metric
}

/** Nothing counted yet. */
export function createRequestCounts(): RequestCounts {
  const counts = new Map<string, { readonly labels: { readonly route: string; readonly status: string }; value: number }>()
  return {
    count(path, status) {
      const route = routeClassOf(path)
      const key = `${route} ${status}`
      const known = counts.get(key)
      if (known) known.value++
      else counts.set(key, { labels: { route, status: String(status) }, value: 1 })
    },
    metric: {
      name: 'commonplace_http_requests_total',
      help: 'Requests answered, by kind of address (mcp, rest, probe, other) and status',
      kind: 'counter',
      labels: ['route', 'status'],
      read: () => [...counts.values()],
    },
  }
}

/** `/metrics` for those who present the token, in Prometheus' text format, with those of the process. What writes it is loaded at the first request. */
export function addMetricsRoute(app: Hono<HttpEnv>, token: string, metrics: readonly Metric[]): void {
  let loading: ReturnType<typeof loadRegistry> | undefined
  app.get('/metrics', async (c) => {
    checkToken(c.req.header('authorization') ?? '', token)
    loading ??= loadRegistry(metrics)
    const registry = await loading
    return c.body(await registry.metrics(), 200, { 'Content-Type': registry.contentType })
  })
}

/** Compares digests, in constant time. @throws AppError `unauthenticated` */
function checkToken(header: string, token: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(header) ?? []
  if (!timingSafeEqual(digest(given), digest(token))) {
    throw new AppError('unauthenticated', 'Metrics need the token of the setting METRICS_TOKEN, in the header Authorization: Bearer TOKEN.')
  }
}

async function loadRegistry(metrics: readonly Metric[]) {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const { name, help, kind, labels = [], read } of metrics) {
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    if (kind === 'gauge') {
      const gauge = new Gauge({
        ...options,
        async collect() {
          gauge.reset()
          for (const sample of await read()) gauge.set(sample.labels ?? {}, sample.value)
        },
      })
    } else {
      const counter = new Counter({
        ...options,
        async collect() {
          counter.reset()
          for (const sample of await read()) counter.inc(sample.labels ?? {}, sample.value)
        },
      })
    }
  }
  return registry
}
