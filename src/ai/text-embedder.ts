import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { describeFailure, type Failure, waitBeforeRetry } from './retries.ts'

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
