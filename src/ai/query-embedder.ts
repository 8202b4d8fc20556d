import { LRUCache } from 'lru-cache'
import { toAppError } from '../errors.ts'
import { cutCharacters } from '../library/characters.ts'
import type { EmbedQuery, TextEmbedder } from '../library/ports/models.ts'
import { backOffMs, type Patience } from './back-off.ts'
import { PROBE } from './embed-pending.ts'

/** Longest time a search waits for its provider. */
const TIMEOUT_MS = 1500
/** Longest time a provider that failed may take to show that it is back: it may be loading its model. */
const PROBE_TIMEOUT_MS = 30_000
const FIRST_PROBE_MS = 1000
const MOST_PROBE_MS = 60_000
/** Queries whose vectors are cached. */
const MAX_CACHED = 500
/** How much of a query is sent, in characters. */
const MAX_QUERY = 8_000

/** Embeds queries without making searches wait for a slow provider. */
export interface QueryEmbedder {
  readonly embed: EmbedQuery
  /** Whether queries are being asked: not after a failure, until a call in the background has succeeded in time. */
  readonly isUp: boolean
  /** Asks for nothing in particular, so that a provider that is not there is noticed before the first query. */
  probe(): void
  /** Queries sent to the provider, answered from the cache, and searched without a vector. */
  readonly counts: Readonly<{ sent: number; cached: number; fellBack: number; failures: number }>
  /** Ends what is under way. */
  stop(): void
}

/**
 * Embeds queries. Concurrent equal queries share a call, and recent ones are cached. After a failure queries get no vector, while the
 * provider is probed in the background with growing delays until it answers in time.
 */
export function createQueryEmbedder(embedder: TextEmbedder, patience: Patience): QueryEmbedder {
  const cache = new LRUCache<string, Float32Array>({ max: MAX_CACHED })
  const underWay = new Map<string, Promise<Float32Array | null>>()
  const closed = new AbortController()
  const counts = { sent: 0, cached: 0, fellBack: 0, failures: 0 }
  let isUp = true
  let isProbing = false

  const ask = async (text: string, timeoutMs: number): Promise<Float32Array | null> => {
    counts.sent++
    const [vector] = await embedder.embed([text], { purpose: 'query', timeoutMs, signal: closed.signal })
    return vector ?? null
  }
  const fail = (): void => {
    if (closed.signal.aborted) return
    counts.failures++
    isUp = false
    if (!isProbing) void probeUntilUp()
  }
  /** Asks again and again in the background; never rejects. */
  const probeUntilUp = async (): Promise<void> => {
    isProbing = true
    for (let failures = 1; !isUp && !closed.signal.aborted; failures++) {
      try {
        await patience.wait(backOffMs(failures, FIRST_PROBE_MS, MOST_PROBE_MS, patience.fraction()), closed.signal)
        const started = performance.now()
        await ask(PROBE, PROBE_TIMEOUT_MS)
        // One that is too slow for queries is not back, but the next call may find its model loaded.
        isUp = performance.now() - started <= TIMEOUT_MS
      } catch {
        // Not yet.
      }
    }
    isProbing = false
  }
  const askNow = async (text: string): Promise<Float32Array | null> => {
    try {
      const vector = await ask(text, TIMEOUT_MS)
      if (vector) cache.set(text, vector)
      return vector
    } catch (error) {
      // A provider that refuses one text may take the next.
      if (toAppError(error).code !== 'invalid_input') fail()
      return null
    } finally {
      underWay.delete(text)
    }
  }
  return {
    counts,
    get isUp() {
      return isUp
    },
    async embed(query) {
      const text = cutCharacters(query.trim(), MAX_QUERY)
      const cached = cache.get(text)
      if (cached) {
        counts.cached++
        return cached
      }
      if (!isUp || text === '') {
        counts.fellBack++
        return null
      }
      const call = underWay.get(text) ?? askNow(text)
      underWay.set(text, call)
      const vector = await call
      if (!vector) counts.fellBack++
      return vector
    },
    probe: () => void ask(PROBE, PROBE_TIMEOUT_MS).catch(fail),
    stop: () => closed.abort(),
  }
}
