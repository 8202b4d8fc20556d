import { LRUCache } from 'lru-cache'
import type { CacheUse } from '../domain/service/service.ts'

/** A bounded cache by key; the least recently used entries go first. */
interface RevisionCache<T extends object | string | number> {
  get(key: string): T | undefined
  /** Caches a value read since {@link RevisionCaches.refresh} gave `revision`; a value of an older revision is ignored. */
  put(revision: number, key: string, value: T, size?: number): void
}

/** Caches of one revision of the library. */
export type RevisionCaches = ReturnType<typeof createRevisionCaches>

/** @param readRevision gives another number whenever a cached answer could have changed, in this process or in another */
export function createRevisionCaches(readRevision: () => Promise<number>) {
  let current: number | null = null
  const caches: { clear(): void }[] = []
  const uses: { readonly name: string; hits: number; misses: number }[] = []
  return {
    /** Reads the revision and clears every cache when it has changed. Call it before each use. */
    async refresh(): Promise<number> {
      const revision = await readRevision()
      if (revision !== current) {
        current = revision
        for (const cache of caches) cache.clear()
      }
      return revision
    },
    /** @param maxSize largest sum of the sizes that entries are put with */
    create<T extends object | string | number>(name: string, maxSize: number): RevisionCache<T> {
      const cache = new LRUCache<string, T>({ maxSize })
      const use = { name, hits: 0, misses: 0 }
      caches.push(cache)
      uses.push(use)
      return {
        get(key) {
          const value = cache.get(key)
          if (value === undefined) use.misses++
          else use.hits++
          return value
        },
        put(revision, key, value, size = 1) {
          if (revision === current) cache.set(key, value, { size })
        },
      }
    },
    /** Hits and misses since the start, by cache. */
    readUse: (): readonly CacheUse[] => uses.map((use) => ({ ...use })),
  }
}
