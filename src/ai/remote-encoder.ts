import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { EncodedQuery, Encoder, ItemText } from '../domain/ports/encoder.ts'
import { cutCharacters } from '../domain/text/characters.ts'
import { AppError, toAppError } from '../errors.ts'
import { toBytes } from '../search/vectors/embedder.ts'
import { backOffMs, createBoundedFetch, describeFailure, type Failure, type Patience, waitBeforeRetry } from './model-requests.ts'

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

/** A server that speaks OpenAI's protocol for embeddings, and which of its models is asked. */
export interface EmbeddingSettings {
  /** Up to and with its version (`http://127.0.0.1:11434/v1`); `/embeddings` is appended. */
  readonly url: string
  readonly model: string
  readonly key: string | null
}

/** A provider's model that turns texts into vectors. */
export interface TextEmbedder {
  /** As the operator names it. */
  readonly model: string
  /**
   * A vector of unit length for each text, in their order, all of equally many dimensions. `purpose` is the use of the texts, which some models need as a prefix.
   * @param options.timeoutMs how long it may take in all, trying again included
   * @throws AppError `invalid_input` when the provider refuses the texts, `upstream_failed` when it fails; what `signal` was aborted with
   */
  embed(texts: readonly string[], options: { purpose: 'query' | 'item'; timeoutMs: number; signal: AbortSignal }): Promise<Float32Array[]>
}

/** Longest wait before a model that fails is asked again: meanwhile there is no search by meaning. */
const MAX_RETRY_AFTER_SECONDS = 3600
/** Most bytes of one answer: some fifty vectors of the most dimensions, written out. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const MAX_DIMS = 4096
/** Statuses that say that the texts are not to the provider's liking, and trying again would not help. */
const REFUSALS = new Set([400, 413, 422])

/** Prefixes that models expect before a text, by part of the model's name. Source: their model cards. */
const PREFIXES: readonly { readonly name: RegExp; readonly query: string; readonly item: string }[] = [
  { name: /nomic-embed/i, query: 'search_query: ', item: 'search_document: ' },
  { name: /(^|[/_-])e5-(small|base|large)|multilingual-e5-(small|base|large)$/i, query: 'query: ', item: 'passage: ' },
  {
    name: /mxbai-embed|snowflake-arctic-embed|bge-(small|base|large)-en/i,
    query: 'Represent this sentence for searching relevant passages: ',
    item: '',
  },
]

const answerSchema = z.object({
  data: z.array(z.object({ index: z.number().int().optional(), embedding: z.array(z.number()).min(1).max(MAX_DIMS) })),
})

/** The vectors of an attempt, or the retry advice of a failed one. */
type Attempt = { readonly vectors: Float32Array[] } | { readonly failure: Failure }

/** An embedder behind a server. Failures that may pass are tried again, Retry-After honoured. Nothing it throws holds a text or the key. */
export function createTextEmbedder({ url, model, key }: EmbeddingSettings, fetcher: typeof fetch = fetch): TextEmbedder {
  const name = `The embedding model ${model}`
  const bounded = createBoundedFetch(MAX_ANSWER_BYTES, fetcher)
  const prefixes = PREFIXES.find((one) => one.name.test(model))

  const attemptOnce = async (texts: readonly string[], signal: AbortSignal): Promise<Attempt> => {
    const response = await request(texts, signal)
    if (!response) return { failure: { status: undefined, retryAfter: undefined } }
    if (!response.ok) {
      await response.body?.cancel()
      return { failure: { status: response.status, retryAfter: response.headers.get('retry-after') ?? undefined } }
    }
    return { vectors: readVectors(await readJson(response, signal), texts.length, name) }
  }
  /** null: nobody answered. */
  const request = async (texts: readonly string[], signal: AbortSignal): Promise<Response | null> => {
    try {
      return await bounded(`${url}/embeddings`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json',
          ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        signal,
      })
    } catch {
      signal.throwIfAborted()
      return null
    }
  }
  /** @throws AppError `upstream_failed` when it is cut off, too large or no JSON */
  const readJson = async (response: Response, signal: AbortSignal): Promise<unknown> => {
    try {
      return await response.json()
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof AppError ? error : unreadable(name)
    }
  }
  return {
    model,
    async embed(texts, { purpose, timeoutMs, signal: left }) {
      const deadline = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([left, deadline])
      const started = performance.now()
      const sent = prefixes ? texts.map((text) => prefixes[purpose] + text) : texts
      try {
        for (let attempt = 0; ; attempt++) {
          const answer = await attemptOnce(sent, signal)
          if ('vectors' in answer) return answer.vectors
          const leftMs = timeoutMs - (performance.now() - started)
          const waitMs = waitBeforeRetry(answer.failure, attempt, leftMs, Date.now())
          if (waitMs === null) throw toError(name, answer.failure)
          await sleep(waitMs, undefined, { signal })
        }
      } catch (error) {
        left.throwIfAborted()
        if (!deadline.aborted) throw error
        throw new AppError('upstream_failed', `${name} did not answer within ${timeoutMs / 1000} seconds.`)
      }
    },
  }
}

/** Vectors of unit length, in the order of the texts. @throws AppError `upstream_failed` when it is anything else */
function readVectors(answer: unknown, count: number, name: string): Float32Array[] {
  const parsed = answerSchema.safeParse(answer)
  if (!parsed.success) throw unreadable(name)
  const { data } = parsed.data
  if (data.length !== count) throw new AppError('upstream_failed', `${name} returned ${data.length} vectors for ${count} texts.`)
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count })
  data.forEach(({ index = 0, embedding }, place) => {
    vectors[data.some((one) => one.index !== undefined) ? index : place] = toUnitLength(embedding)
  })
  const whole = vectors.filter((vector) => vector !== undefined)
  const dims = whole[0]?.length
  if (whole.length !== count || whole.some((vector) => vector.length !== dims || !vector.every(Number.isFinite))) throw unreadable(name)
  return whole
}

/** Not finite when the length is 0: a vector that says nothing is no answer. */
function toUnitLength(numbers: readonly number[]): Float32Array {
  const length = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0))
  return Float32Array.from(numbers, (value) => value / length)
}

function unreadable(name: string): AppError {
  return new AppError('upstream_failed', `${name} returned an unreadable response.`)
}

/** A failure as operators see it. What the provider wrote is left out: it may repeat the texts or the key. */
function toError(name: string, failure: Failure): AppError {
  const { status } = failure
  if (status !== undefined && REFUSALS.has(status)) return new AppError('invalid_input', `${name} rejected the text (${status}).`)
  return describeFailure(name, failure, MAX_RETRY_AFTER_SECONDS)
}
