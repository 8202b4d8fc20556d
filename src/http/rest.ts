import { getQueryParams } from 'hono/utils/url'
import { joinBytes, toJsonBytes } from '../cache/shared-records.ts'
import { isObject, parseJson } from '../domain/text/json.ts'
import { AppError, invalidInput } from '../errors.ts'
import type { Answer, AnswerHeaders } from '../exchange.ts'
import { pointsOfInput } from '../operations/core/cost-of-call.ts'
import type { Operation, Surfaces } from '../operations/core/define-operation.ts'
import { coerceText, describeInputs, type InputKind } from '../operations/core/describe-inputs.ts'
import type { CallOptions } from '../operations/core/procedure.ts'
import { decodeBody, MAX_BODY_BYTES } from './body.ts'
import type { BoundRoute, Call, MakeContext } from './call.ts'
import { answerWithEtag } from './etag.ts'
import { answerWithEvents, wantsEvents } from './event-stream.ts'

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
