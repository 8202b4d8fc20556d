import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** A text that was made of another. */
export interface Made {
  /** Null when there is none. */
  readonly text: string | null
  /** Whether it is the same each time it is made. If not, it is made again for the next reader. */
  readonly isKept: boolean
}

/** Work on a text that is not done. */
interface Work {
  readonly made: Promise<Made>
  readonly left: AbortController
  readers: number
}

/** Texts that are kept at most, however short they are. */
const MAX_ENTRIES = 2000
const NOTHING: Made = { text: null, isKept: false }

/** Texts made from other texts, the least used forgotten first. @param maxLength of all texts kept together, in UTF-16 units */
export function createTextCache(maxLength: number) {
  const cache = new LRUCache<string, { readonly text: string | null }>({
    max: MAX_ENTRIES,
    maxSize: maxLength,
    sizeCalculation: ({ text }) => Math.max(1, text?.length ?? 0),
  })
  const working = new Map<string, Work>()
  const begin = (key: string, make: (signal: AbortSignal) => Promise<Made>, isShared: boolean): Work => {
    const left = new AbortController()
    const made = make(left.signal).then((result) => {
      if (result.isKept) cache.set(key, { text: result.text })
      return result
    })
    const work = { made, left, readers: 0 }
    if (isShared) {
      working.set(key, work)
      const end = () => endWork(key, work)
      made.then(end, end)
    }
    return work
  }
  const endWork = (key: string, work: Work) => {
    if (working.get(key) === work) working.delete(key)
  }
  return {
    /**
     * The cached value of these parts, or the one that `make` makes now. Readers of the same text share the work on it; its signal is aborted when
     * the last of them has left. A disconnected reader gets no text.
     * @param options.signal aborted when this reader leaves
     * @param options.isShared false for work that others must not depend on. Default: true
     */
    async find(
      parts: readonly string[],
      make: (signal: AbortSignal) => Promise<Made>,
      { signal, isShared = true }: { readonly signal?: AbortSignal | undefined; readonly isShared?: boolean } = {},
    ): Promise<Made> {
      const hash = createHash('sha256')
      for (const part of parts) hash.update(`${part.length}:`).update(part)
      const key = hash.digest('base64')
      const cached = cache.get(key)
      if (cached) return { text: cached.text, isKept: true }
      if (signal?.aborted) return NOTHING
      const work = (isShared ? working.get(key) : undefined) ?? begin(key, make, isShared)
      work.readers++
      const gone = Promise.withResolvers<Made>()
      const leave = () => {
        gone.resolve(NOTHING)
        if (--work.readers > 0) return
        endWork(key, work)
        work.left.abort()
      }
      signal?.addEventListener('abort', leave, { once: true })
      try {
        return await Promise.race([work.made, gone.promise])
      } finally {
        signal?.removeEventListener('abort', leave)
      }
    },
  }
}
