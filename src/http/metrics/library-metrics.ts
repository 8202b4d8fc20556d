import type { FaultCounts, LibraryFigures, LoadFigures } from '../../library/service.ts'
import type { Metric } from './metrics.ts'

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

/** What the library holds and how large it is; the caller keeps `read`'s answers for a while. */
export function libraryMetrics(version: string, read: () => Promise<LibraryFigures>): readonly Metric[] {
  const gauge = (name: string, help: string, value: (figures: LibraryFigures) => number): Metric => ({
    name,
    help,
    kind: 'gauge',
    read: async () => [{ value: value(await read()) }],
  })
  return [
    {
      name: 'commonplace_build_info',
      help: 'Always 1; labels are the version of the service and its newest migration',
      kind: 'gauge',
      labels: ['version', 'schema'],
      read: async () => [{ labels: { version, schema: (await read()).schema.slice(0, 4) }, value: 1 }],
    },
    {
      name: 'commonplace_items',
      help: 'Items that are not in the trash, by kind (prompt, skill)',
      kind: 'gauge',
      labels: ['kind'],
      async read() {
        const { prompts, skills } = await read()
        return [
          { labels: { kind: 'prompt' }, value: prompts },
          { labels: { kind: 'skill' }, value: skills },
        ]
      },
    },
    gauge('commonplace_trash_items', 'Items in the trash', ({ inTrash }) => inTrash),
    {
      name: 'commonplace_library_bytes',
      help: 'Size of the library: of its file, or of the database on the server (data), and of the write-ahead log of a file (log)',
      kind: 'gauge',
      labels: ['part'],
      async read() {
        const { bytes, logBytes } = (await read()).database
        return [{ labels: { part: 'data' }, value: bytes }, ...(logBytes === null ? [] : [{ labels: { part: 'log' }, value: logBytes }])]
      },
    },
    gauge('commonplace_search_ready', '1 when search has loaded the library', ({ search }) => Number(search.isReady)),
    gauge('commonplace_search_items', 'Items in the search index of this process', ({ search }) => search.items),
  ]
}

/** What this process is busy with, read without asking the library. */
export function loadMetrics(load: () => LoadFigures, faults: () => FaultCounts): readonly Metric[] {
  return [
    { name: 'commonplace_http_running', help: 'Requests in progress', kind: 'gauge', read: () => [{ value: load().running }] },
    { name: 'commonplace_http_streams', help: 'Open streams', kind: 'gauge', read: () => [{ value: load().streams }] },
    {
      name: 'commonplace_http_waiting',
      help: 'Waiting requests: for a slot of their caller (admission) or for their turn (turns)',
      kind: 'gauge',
      labels: ['queue'],
      read: () => Object.entries(load().waiting).map(([queue, value]) => ({ labels: { queue }, value })),
    },
    {
      name: 'commonplace_library_faults_total',
      help: 'Requests failed by a library fault, by kind (full, readonly, io, damaged, moved, unreachable, other)',
      kind: 'counter',
      labels: ['kind'],
      read: () => [...faults()].map(([kind, value]) => ({ labels: { kind }, value })),
    },
  ]
}
