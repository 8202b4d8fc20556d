import { LRUCache } from 'lru-cache'

/** A bounded cache by key; the least recently used entries go first. */
export interface RevisionCache<T extends object | string | number> {
  get(key: string): T | undefined
  /** Caches a value read since {@link RevisionCaches.refresh} gave `revision`; a value of an older revision is ignored. */
  put(revision: number, key: string, value: T, size?: number): void
}

/** Caches of one revision of the library. */
export interface RevisionCaches {
  /** Reads the revision and clears every cache when it has changed. Call it before each use. */
  refresh(): Promise<number>
  /** @param maxSize largest sum of the sizes that entries are put with */
  create<T extends object | string | number>(maxSize: number): RevisionCache<T>
}

/** @param readRevision gives another number whenever a cached answer could have changed, in this process or in another */
export function createRevisionCaches(readRevision: () => Promise<number>): RevisionCaches {
  let current: number | null = null
  const caches: { clear(): void }[] = []
  return {
    async refresh() {
      const revision = await readRevision()
      if (revision !== current) {
        current = revision
        for (const cache of caches) cache.clear()
      }
      return revision
    },
    create<T extends object | string | number>(maxSize: number): RevisionCache<T> {
      const cache = new LRUCache<string, T>({ maxSize })
      caches.push(cache)
      return {
        get: (key) => cache.get(key),
        put(revision, key, value, size = 1) {
          if (revision === current) cache.set(key, value, { size })
        },
      }
    },
  }
}
