import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/** The part of the stub that embeds. Vectors are hashed bags of words, so that texts that share words are near each other; a few words have one meaning. */

const DIMS = 256
/** A common part of all vectors, as real models' vectors have one: unrelated texts have a cosine of some 0.6. */
const COMMON = 1.2
const SYNONYMS: Readonly<Record<string, string>> = { feline: 'cat', cats: 'cat', kitty: 'cat', automobile: 'car', cars: 'car' }

const body = z.object({ model: z.string(), input: z.array(z.string()), encoding_format: z.literal('float') })

/** What it was sent once. */
interface EmbeddingEntry {
  readonly model: string
  readonly input: readonly string[]
  readonly authorization: string | null
  readonly at: number
  hasLeft: boolean
  status: number
}

interface Call {
  readonly texts: readonly string[]
  readonly entry: EmbeddingEntry
  readonly response: ServerResponse
  /** How many requests this model had before this one. */
  readonly earlier: number
}

const embeddingLog: EmbeddingEntry[] = []
/** Models that are out of order at the moment: set by `POST /embeddings-mode`, so that a provider can fail in the middle. */
const modes = new Map<string, string>()

function hash(word: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < word.length; i++) value = Math.imul(value ^ word.charCodeAt(i), 0x01000193)
  return value | 1
}

function embed(text: string, dims = DIMS): number[] {
  const sum: number[] = Array.from({ length: dims }, () => 0)
  const words = new Set((text.toLowerCase().match(/\p{L}+/gu) ?? []).map((word) => SYNONYMS[word] ?? word))
  for (const word of words) {
    let state = hash(word)
    for (let i = 0; i < dims; i++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      sum[i] = (sum[i] ?? 0) + (state < 0 ? -1 : 1)
    }
  }
  const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0)) || 1
  return sum.map((value, i) => value / length + (COMMON / Math.sqrt(dims)) * (i % 3 === 0 ? -1 : 1))
}

/** Answers with an error, as such services word it. */
export function fail(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(JSON.stringify({ error: { message, type: 'stub', param: null, code: null } }))
}

/** A behaviour: what it answers with for texts, or how it fails. */
type Behaviour = (call: Call) => readonly (readonly unknown[])[] | void | Promise<readonly number[][] | undefined> | Promise<void>

const embedAll = ({ texts }: Call, dims = DIMS) => texts.map((text) => embed(text, dims))

async function embedAfter(call: Call, ms: number): Promise<readonly number[][]> {
  await sleep(ms)
  return embedAll(call)
}

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  normal: (call) => embedAll(call),
  small: (call) => embedAll(call, 64),
  slow: (call) => embedAfter(call, 3000),
  'busy-once': (call) => (call.earlier > 0 ? embedAll(call) : fail(call.response, 429, 'Slow down', { 'Retry-After': '1' })),
  broken: ({ response, texts, entry }) => fail(response, 500, `Fault with ${entry.authorization} on ${texts[0]}`),
  'bad-key': ({ response, entry }) => fail(response, 401, `Incorrect API key provided: ${entry.authorization}`),
  garbage: ({ response }) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>Welcome</html>'),
  strings: ({ texts }) => texts.map(() => ['NaN', null]),
  zeros: ({ texts }) => texts.map(() => [0, 0, 0]),
  'one-too-few': (call) => embedAll(call).slice(1),
  'same-index': (call) => answer(call.response, embedAll(call), () => 0),
  'uneven-dims': ({ texts }) => texts.map((text, place) => embed(text, place === 0 ? 8 : 16)),
  'too-many-dims': (call) => embedAll(call, 4097),
  elsewhere: ({ response }) => void response.writeHead(307, { Location: '/v1/elsewhere' }).end(),
  async huge({ response }) {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    while (!response.destroyed) {
      response.write(' '.repeat(500_000))
      await sleep(1)
    }
  },
  never: () => {},
  'refuses-all': ({ response }) => fail(response, 400, 'Bad model'),
}

function answer(response: ServerResponse, vectors: readonly (readonly unknown[])[], indexOf = (place: number) => place): void {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  // Backwards: the index says which is whose.
  const data = vectors.map((embedding, place) => ({ object: 'embedding', index: indexOf(place), embedding })).reverse()
  response.end(JSON.stringify({ object: 'list', data, model: 'stub', usage: { prompt_tokens: 1, total_tokens: 1 } }))
}

/** Answers what concerns embeddings; false for everything else. `GET /embeddings-log` tells what came in. */
export async function answerEmbeddings(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (request.url === '/embeddings-log') {
    response.end(JSON.stringify(embeddingLog))
    return true
  }
  if (request.url === '/embeddings-mode') {
    const { model, mode } = z.object({ model: z.string(), mode: z.string() }).parse(await json(request))
    modes.set(model, mode)
    response.end('{}')
    return true
  }
  if (request.url !== '/v1/embeddings') return false
  const { model, input } = body.parse(await json(request))
  const earlier = embeddingLog.filter((one) => one.model === model).length
  const authorization = request.headers.authorization ?? null
  const entry: EmbeddingEntry = { model, input, authorization, at: Date.now(), hasLeft: false, status: 0 }
  embeddingLog.push(entry)
  response.on('error', () => {})
  response.once('close', () => {
    entry.hasLeft = !response.writableFinished
    entry.status = response.statusCode
  })
  // What comes after a colon tells apart the tests that want the same behaviour.
  const behave = BEHAVIOURS[modes.get(model) ?? model.split(':')[0] ?? '']
  const vectors = behave && (await behave({ texts: input, entry, response, earlier }))
  if (vectors) answer(response, vectors)
  else if (!behave) fail(response, 404, `The model ${model} does not exist`)
  return true
}
