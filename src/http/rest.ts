import { parseAccept } from 'hono/utils/accept'
import { getQueryParams } from 'hono/utils/url'
import { joinBytes, toJsonBytes } from '../cache/answer-cache.ts'
import { isObject, parseJson } from '../domain/text/json.ts'
import { AppError, invalidInput, toAppError } from '../errors.ts'
import type { Answer, AnswerHeaders } from '../exchange.ts'
import { type Operation, pointsOfInput, type Surfaces } from '../operations/core/define-operation.ts'
import { coerceText, describeInputs, type InputKind } from '../operations/core/describe-inputs.ts'
import type { CallOptions } from '../operations/core/procedure.ts'
import { answerWithEtag, toErrorBody } from './answers.ts'
import { decodeBody, MAX_BODY_BYTES } from './body.ts'
import type { BoundRoute, Call, MakeContext } from './route.ts'

/** How often something is sent while nothing happens, so that proxies keep the connection; the first time also begins the answer. */
const KEEP_ALIVE_MS = 10_000
/** How long a reader may take over the last event. */
const LAST_EVENT_MS = 30_000
const EVENT_STREAM = 'text/event-stream'
const HEADERS = { 'content-type': `${EVENT_STREAM}; charset=utf-8`, 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

/** Whether a request's Accept header prefers events to JSON (RFC 9110, 12.5.1): by name, with the higher weight; of equal weights the first. */
function wantsEvents(accept: string | null): boolean {
  // Sorted by weight.
  const ranges = parseAccept(accept ?? '').filter(({ q }) => q > 0)
  const placeOf = (type: string) => ranges.findIndex((range) => range.type.toLowerCase() === type)
  const events = placeOf(EVENT_STREAM)
  if (events < 0) return false
  const json = placeOf('application/json')
  if (json >= 0) return events < json
  const any = ranges[placeOf('application/*')] ?? ranges[placeOf('*/*')]
  return (ranges[events]?.q ?? 0) >= (any?.q ?? 0)
}

/**
 * Answers a call as server-sent events: `delta` with text to append, `restart` when the text so far is void, and finally `result` with the
 * whole answer or `error` with a REST error. Errors before the first event are thrown, and have their own status. `onFailure` is called
 * with later errors, unless the client has disconnected. `client` is aborted when the reader leaves. A slow reader slows the call down; one
 * that leaves ends it.
 */
export async function answerWithEvents(
  client: AbortSignal,
  requestId: string,
  call: (options: CallOptions) => Promise<Record<string, unknown>>,
  onFailure: (error: AppError, requestId: string) => void,
) {
  const left = new AbortController()
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>()
  const writer = writable.getWriter()
  writer.closed.catch((reason: unknown) => left.abort(reason))
  const utf8 = new TextEncoder()
  const send = (event: string, data: object) => writer.write(utf8.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))

  const begun = Promise.withResolvers<void>()
  let hasBegun = false
  const begin = () => {
    hasBegun = true
    begun.resolve()
  }
  const keepAlive = setInterval(() => {
    begin()
    if ((writer.desiredSize ?? 0) > 0) writer.write(utf8.encode(': keep-alive\n\n')).catch(() => {})
  }, KEEP_ALIVE_MS)

  async function run(): Promise<void> {
    try {
      const output = await call({
        signal: AbortSignal.any([client, left.signal]),
        async onText(part) {
          begin()
          await (part.kind === 'delta' ? send('delta', { text: part.text }) : send('restart', {}))
        },
      })
      begin()
      await sendLast('result', output)
    } catch (thrown) {
      if (!hasBegun) return begun.reject(thrown)
      const error = toAppError(thrown)
      if (!left.signal.aborted && !client.aborted) onFailure(error, requestId)
      const { retryAfterSeconds } = error
      // The headers are sent long since, Retry-After among those that cannot be any more.
      await sendLast('error', { ...toErrorBody(error, requestId), ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) })
    }
  }

  async function sendLast(event: string, data: object): Promise<void> {
    const giveUp = setTimeout(() => writer.abort().catch(() => {}), LAST_EVENT_MS)
    try {
      await send(event, data)
      await writer.close()
    } catch {
      // The reader has left.
    } finally {
      clearTimeout(giveUp)
    }
  }

  run().finally(() => clearInterval(keepAlive))
  await begun.promise
  return { status: 200, headers: { ...HEADERS }, body: readable }
}

type Rest = NonNullable<Surfaces['rest']>

/** A route for every operation that has one. `onFault` is called with errors after a response has started. */
export function operationRoutes(
  operations: readonly Operation[],
  makeContext: MakeContext,
  onFault: (error: AppError, requestId: string) => void,
): BoundRoute[] {
  return operations.flatMap((operation) => {
    const { rest } = operation.surfaces
    return rest ? [bindOperation(operation, rest, makeContext, onFault)] : []
  })
}

function bindOperation(
  operation: Operation,
  rest: Rest,
  makeContext: MakeContext,
  onFault: (error: AppError, requestId: string) => void,
): BoundRoute {
  const kinds = new Map(describeInputs(operation).map((input) => [input.name, input.kind]))
  const hasBody = rest.method !== 'GET' && rest.method !== 'DELETE'
  return {
    method: rest.method,
    path: rest.path,
    kind: 'rest',
    cost: operation.cost ?? 1,
    ...(hasBody && { bodyLimit: MAX_BODY_BYTES }),
    async handle(call) {
      const { exchange, params, actor, requestId } = call
      const body = hasBody ? readJsonBody(call) : {}
      const input = { ...readQuery(exchange.search, kinds), ...body, ...readPath(params, kinds) }
      const points = pointsOfInput(operation, input)
      if (points > 0) await call.charge(points)
      const run = (options: CallOptions = {}) => operation.call({ ...makeContext(actor), ...options }, input)
      if (!operation.isStreamed) return describeAnswer(call, rest, await run(operation.isLong ? { signal: exchange.signal() } : {}))
      if (wantsEvents(exchange.header('accept') ?? null)) return await answerWithEvents(exchange.signal(), requestId, run, onFault)
      return describeAnswer(call, rest, await run({ signal: exchange.signal() }))
    },
  }
}

/** A JSON answer; anonymous reads carry an ETag and answer a matching If-None-Match with 304. */
function describeAnswer({ actor, exchange }: Call, rest: Rest, output: Record<string, unknown>): Answer {
  const json = joinBytes(toJsonBytes(output))
  const headers: AnswerHeaders = { 'content-type': 'application/json; charset=utf-8' }
  const status = rest.status ?? 200
  // Of versions that share a label, the next caller may get another.
  if ('bucket' in output) headers['cache-control'] = 'no-store'
  if (rest.method === 'GET' && actor.kind === 'anonymous') return answerWithEtag(exchange, headers, json, { status })
  return { status, headers, body: json }
}

/** Query parameters, turned into what the schema wants. An empty one counts as absent unless it is the text to look for. */
function readQuery(search: string, kinds: Map<string, InputKind>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  if (search === '') return values
  // Hono's parser wants a whole address.
  const query = getQueryParams(`http://localhost/${search}`)
  for (const [name, texts] of Object.entries(query && !Array.isArray(query) ? query : {})) {
    const kind = kinds.get(name)
    // The operation says that it has no such input.
    if (!kind && name !== '__proto__') values[name] = texts
    if (!kind) continue
    if (kind === 'list') {
      const entries = texts.flatMap((text) => text.split(',')).map((text) => text.trim())
      if (entries.some((text) => text !== '')) values[name] = entries.filter((text) => text !== '')
      continue
    }
    if (texts.length > 1) throw invalidInput(name, `${name} is given ${texts.length} times. Give it once.`)
    const text = texts[0] ?? ''
    if (text !== '' || name === 'query' || name === 'q') values[name] = coerceText(text, kind)
  }
  return values
}

function readPath(params: Readonly<Record<string, string>>, kinds: Map<string, InputKind>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, coerceText(text, kinds.get(name) ?? 'text')]))
}

/** The JSON object in a body. @throws AppError `unsupported_media_type`, `invalid_input` (malformed, too deep, too many members, not an object) */
export function readJsonBody({ body, exchange }: Pick<Call, 'body' | 'exchange'>): Record<string, unknown> {
  const text = decodeBody(body)
  const type = exchange.header('content-type') ?? ''
  if (text === '') return {}
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new AppError('unsupported_media_type', 'Send the body as JSON with Content-Type: application/json.')
  }
  const parsed = parseJson(text)
  if (!parsed.ok) throw new AppError('invalid_input', parsed.reason)
  if (!isObject(parsed.value)) throw new AppError('invalid_input', 'The body must be a JSON object.')
  return parsed.value
}
