import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** A text that was made of another. */
export interface Made {
  /** Null when there is none. */
  readonly text: string | null
  /** Whether it is the same each time it is made. If not, it is made again for the next reader. */
  readonly isKept: boolean
}

/** Texts that are kept at most, however short they are. */
const MAX_ENTRIES = 2000

/** Texts made from other texts, the least used forgotten first. @param maxLength of all texts kept together, in UTF-16 units */
export function createTextCache(maxLength: number) {
  const cache = new LRUCache<string, Made, () => Promise<Made>>({
    max: MAX_ENTRIES,
    maxSize: maxLength,
    sizeCalculation: ({ text }) => Math.max(1, text?.length ?? 0),
    fetchMethod: (_key, _stale, { context: make }) => make(),
    // What others push out while it is made is still given to those who asked for it.
    ignoreFetchAbort: true,
    allowStaleOnFetchAbort: true,
  })
  return {
    /** The cached value of these parts, or the one that `make` makes now, once for all who ask for it meanwhile. */
    async find(parts: readonly string[], make: () => Promise<Made>): Promise<Made> {
      const hash = createHash('sha256')
      for (const part of parts) hash.update(`${part.length}:`).update(part)
      const key = hash.digest('base64')
      const made = await cache.forceFetch(key, { context: make })
      if (!made.isKept && cache.peek(key) === made) cache.delete(key)
      return made
    },
  }
}
