import type { LibraryStore } from '../../storage/store.ts'
import type { Metric } from './metrics.ts'

/** How often public answers came from caches. */
export function cacheMetrics({ readCacheUse }: Pick<LibraryStore['service'], 'readCacheUse'>): readonly Metric[] {
  return [
    {
      name: 'commonplace_cache_lookups_total',
      help: 'Look-ups in caches of public answers, by cache and result (hit, miss)',
      kind: 'counter',
      labels: ['cache', 'result'],
      read: () =>
        readCacheUse().flatMap(({ name, hits, misses }) => [
          { labels: { cache: name, result: 'hit' }, value: hits },
          { labels: { cache: name, result: 'miss' }, value: misses },
        ]),
    },
  ]
}
