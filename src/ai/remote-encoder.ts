import { LRUCache } from 'lru-cache'
import type { EncodedQuery, Encoder, ItemText } from '../domain/ports/encoder.ts'
import { cutCharacters } from '../domain/text/characters.ts'
import { AppError, toAppError } from '../errors.ts'
import { toBytes } from '../search/vectors/embedder.ts'
import { backOffMs, type Patience } from './back-off.ts'
import type { TextEmbedder } from './text-embedder.ts'

/** Longest time a search waits for its provider. */
const QUERY_TIMEOUT_MS = 1500
/** Longest time a request with items may take, trying again included. */
const ITEMS_TIMEOUT_MS = 60_000
/** Longest time a provider that failed may take to show that it is back: it may be loading its model. */
const PROBE_TIMEOUT_MS = 30_000
const FIRST_PROBE_MS = 1000
const MOST_PROBE_MS = 5 * 60_000
/** A harmless text that probes the provider. */
const PROBE = 'prompt'
/** Queries whose vectors are cached. */
const MAX_CACHED = 500
/** How much of a query, or of an item, is sent, in characters. */
const MAX_TEXT = 8_000
/** Items of one request, and their characters (UTF-16 units) in all. */
const BATCH_SIZE = 32
const MAX_BATCH_LENGTH = 64_000

/** A provider's model as the encoder. */
export interface RemoteEncoder extends Encoder {
  /** Queries sent to the provider (probes included), answered from the cache, and searched without a vector; failures of both. */
  readonly counts: Readonly<{ sent: number; cached: number; fellBack: number; failedQueries: number; failedItems: number }>
}

/**
 * Encodes by a provider, without making searches wait for a slow one. Concurrent equal queries share a call, and recent ones are cached. After
 * a failure there are no vectors, while the provider is probed in the background with growing delays until it answers in time.
 * @param onRemark called with a sentence for the log when the provider fails, and when it is back
 */
export function createRemoteEncoder(embedder: TextEmbedder, patience: Patience, onRemark: (message: string) => void): RemoteEncoder {
  const cache = new LRUCache<string, EncodedQuery>({ max: MAX_CACHED })
  const underWay = new Map<string, Promise<EncodedQuery | null>>()
  const closed = new AbortController()
  const counts = { sent: 0, cached: 0, fellBack: 0, failedQueries: 0, failedItems: 0 }
  let fault: AppError | null = null
  /** Whether it answers, but too late for searches: items can wait. */
  let isSlow = false

  const fail = (error: unknown): void => {
    if (closed.signal.aborted || fault) return
    fault = toAppError(error)
    onRemark(`${fault.message} Search works without it until it answers.`)
    void probeUntilUp()
  }
  const ask = async (text: string, timeoutMs: number): Promise<EncodedQuery | null> => {
    counts.sent++
    const [vector] = await embedder.embed([text], { purpose: 'query', timeoutMs, signal: closed.signal })
    return vector ? { vector, knownShare: 1 } : null
  }
  /** Asks again and again in the background; never rejects. */
  const probeUntilUp = async (): Promise<void> => {
    for (let failures = 1; fault && !closed.signal.aborted; failures++) {
      try {
        const waitMs = backOffMs(failures, FIRST_PROBE_MS, MOST_PROBE_MS, patience.fraction())
        await patience.wait(Math.max(waitMs, (fault.retryAfterSeconds ?? 0) * 1000), closed.signal)
        const started = performance.now()
        await ask(PROBE, PROBE_TIMEOUT_MS)
        // One that is too slow for queries is not back, but the next call may find its model loaded.
        isSlow = performance.now() - started > QUERY_TIMEOUT_MS
        if (isSlow) continue
        fault = null
        onRemark('The embedding model is available again.')
      } catch (error) {
        fault = toAppError(error)
        isSlow = false
      }
    }
  }
  const askNow = async (text: string): Promise<EncodedQuery | null> => {
    try {
      const query = await ask(text, QUERY_TIMEOUT_MS)
      if (query) cache.set(text, query)
      return query
    } catch (error) {
      // A provider that refuses one text may take the next.
      if (!isRefusal(error)) {
        counts.failedQueries++
        fail(error)
      }
      return null
    } finally {
      underWay.delete(text)
    }
  }
  /** null: the provider refuses the text. Refused texts are halved until a single one is refused. */
  const encodeTexts = async (texts: readonly string[], signal: AbortSignal): Promise<(Int8Array | null)[]> => {
    const options = { purpose: 'item', timeoutMs: ITEMS_TIMEOUT_MS, signal } as const
    try {
      return (await embedder.embed(texts, options)).map(toBytes)
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
    if (texts.length > 1) {
      const middle = Math.ceil(texts.length / 2)
      return [...(await encodeTexts(texts.slice(0, middle), signal)), ...(await encodeTexts(texts.slice(middle), signal))]
    }
    await embedder.embed([PROBE], options).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      throw new AppError('upstream_failed', `The embedding model ${embedder.model} rejects every text. Check EMBEDDINGS_MODEL.`)
    })
    return [null]
  }
  return {
    model: embedder.model,
    isProvider: true,
    batchSize: BATCH_SIZE,
    counts,
    start: () => void ask(PROBE, PROBE_TIMEOUT_MS).catch(fail),
    state: () => (fault && !isSlow ? 'down' : 'ready'),
    fault: () => fault?.message ?? null,
    async encodeQuery(query) {
      const text = cutCharacters(query.trim(), MAX_TEXT)
      const cached = cache.get(text)
      if (cached) {
        counts.cached++
        return cached
      }
      if (fault || text === '') {
        counts.fellBack++
        return null
      }
      const call = underWay.get(text) ?? askNow(text)
      underWay.set(text, call)
      const answer = await call
      if (!answer) counts.fellBack++
      return answer
    },
    async encodeItems(items, left) {
      if (fault && !isSlow) return null
      const signal = AbortSignal.any([left, closed.signal])
      try {
        return await encodeTexts(takeBatch(items), signal)
      } catch (error) {
        if (signal.aborted) return null
        counts.failedItems++
        isSlow = false
        fail(error)
        return null
      }
    },
    async close() {
      closed.abort()
    },
  }
}

function isRefusal(error: unknown): boolean {
  return toAppError(error).code === 'invalid_input'
}

/** The texts of the first items, as many as one request takes. */
function takeBatch(items: readonly ItemText[]): string[] {
  const texts: string[] = []
  let length = 0
  for (const { title, text } of items.slice(0, BATCH_SIZE)) {
    const whole = cutCharacters([title, text].filter((part) => part !== '').join('\n\n'), MAX_TEXT)
    length += whole.length
    if (texts.length > 0 && length > MAX_BATCH_LENGTH) break
    texts.push(whole)
  }
  return texts
}
