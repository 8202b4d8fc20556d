import { hash } from 'node:crypto'
import type { Hono, Context as HonoContext } from 'hono'
import { getQueryParams } from 'hono/utils/url'
import { z } from 'zod'
import { KEY_HEADERS } from '../auth/authenticate.ts'
import { AppError, invalidInput } from '../errors.ts'
import type { ClientOfRequest } from '../library/account-ports.ts'
import type { Actor } from '../library/actor.ts'
import { parseJson } from '../library/json.ts'
import { joinBytes, toJsonBytes } from '../library/shared-records.ts'
import type { CallOptions, Context, Operation, Surfaces } from '../operations/define-operation.ts'
import { coerceText, describeInputs, type InputKind } from '../operations/describe-inputs.ts'
import type { ReadBody } from './body.ts'
import { errorHeaders, HTTP_STATUS, toErrorBody } from './errors.ts'
import { answerWithEvents, wantsEvents } from './event-stream.ts'
import type { LeanAnswer, LeanHandler } from './lean-lane.ts'

/** What a request carries through the routes. */
export interface HttpEnv {
  /** `caller` is whom a request is counted for; `cookies` are set with the answer; `operations` are those MCP called, for the log. */
  Variables: {
    requestId: string
    actor: Actor
    caller: string
    client: ClientOfRequest
    cookies: readonly string[]
    operations: Set<string>
  }
}

/** Makes the operations' context for a request's caller. */
export type MakeContext = (actor: Actor) => Context

type Rest = NonNullable<Surfaces['rest']>

/** The pattern Hono matches for a path of an operation. */
function toHonoPath(path: string): string {
  return path
    .replace('{collection}', ':collection{prompts|skills}')
    .replace('{filename}', ':filename{.+}')
    .replaceAll(/\{(\w+)\}/g, ':$1')
}

/** Paths that match one of an operation, with what is named in it in groups of these names. */
export function toPathPattern(path: string): RegExp {
  const source = toHonoPath(path).replaceAll(
    /:(\w+)(?:\{([^}]+)\})?/g,
    (_, name: string, inner: string | undefined) => `(?<${name}>${inner ?? '[^/]+'})`,
  )
  return new RegExp(`^${source}$`)
}

/** A query as plain addresses have it: what is in it means the same wherever it is read. */
export const PLAIN_SEARCH = /^(?:\?[\w.~!*()+,;:@$/=&%-]*)?$/

/** Plain reads of operations, for the lean lane. */
export function createLeanReads(operations: readonly Operation[], makeContext: MakeContext): LeanHandler {
  const reads = operations.flatMap((operation) => {
    const { rest } = operation.surfaces
    if (rest?.method !== 'GET' || operation.isStreamed) return []
    return [{ operation, rest, pattern: toPathPattern(rest.path), kinds: kindsOf(operation) }]
  })
  return {
    accept({ method, path, search, headers }) {
      if (method !== 'GET' || !path.startsWith('/api/') || !PLAIN_SEARCH.test(search)) return null
      for (const { operation, rest, pattern, kinds } of reads) {
        const match = pattern.exec(path)
        if (!match) continue
        return async ({ actor }) => {
          const query = search === '' ? {} : readQuery(parseQuery(search), kinds)
          const answer = await operation.call(makeContext(actor), { ...query, ...readPath(match.groups ?? {}, kinds) })
          return describeAnswer(rest, joinBytes(toJsonBytes(answer)), actor, headers.get('if-none-match'))
        }
      }
      return null
    },
    refuse: (error, requestId) => ({
      status: HTTP_STATUS[error.code],
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...lowerNames(errorHeaders(error)) },
      body: JSON.stringify(toErrorBody(error, requestId)),
    }),
  }
}

/** A query as the routes read it, with their own parser, which wants a whole address. */
function parseQuery(search: string): Record<string, string[]> {
  const parsed = getQueryParams(`http://localhost/${search}`)
  return parsed && !Array.isArray(parsed) ? parsed : {}
}

function lowerNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function kindsOf(operation: Operation): Map<string, InputKind> {
  return new Map(describeInputs(operation).map((input) => [input.name, input.kind]))
}

/** Adds a route for every operation that has one. `onInternalError` hears of what goes wrong after an answer has begun. */
export function addOperationRoutes(
  app: Hono<HttpEnv>,
  operations: readonly Operation[],
  makeContext: MakeContext,
  readBody: ReadBody,
  onInternalError: (error: AppError, requestId: string) => void,
): void {
  for (const operation of operations) {
    const rest = operation.surfaces.rest
    if (!rest) continue
    const kinds = kindsOf(operation)
    app.on(rest.method, toHonoPath(rest.path), async (c) => {
      const body =
        rest.method === 'GET' || rest.method === 'DELETE' ? {} : readJsonBody(await readBody(c.req.raw), c.req.header('content-type') ?? '')
      const input = { ...readQuery(c.req.queries(), kinds), ...body, ...readPath(c.req.param(), kinds) }
      const call = (options: CallOptions) => operation.call({ ...makeContext(c.get('actor')), ...options }, input)
      if (!operation.isStreamed) return toAnswer(c, rest, JSON.stringify(await call({})))
      if (wantsEvents(c.req.header('accept') ?? null)) return await answerWithEvents(c.req.raw, c.get('requestId'), call, onInternalError)
      return toAnswer(c, rest, JSON.stringify(await call({ signal: c.req.raw.signal })))
    })
  }
}

/** A JSON answer; anonymous reads carry an ETag and answer a matching If-None-Match with 304. */
function describeAnswer(rest: Rest, json: string | Uint8Array, actor: Actor, ifNoneMatch: string | undefined): LeanAnswer {
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
  if (rest.method === 'GET' && actor.kind === 'anonymous') {
    const etag = makeEtag(json)
    headers['etag'] = etag
    if (matchesEtag(ifNoneMatch, etag)) return { status: 304, headers, body: '' }
  }
  return { status: rest.status ?? 200, headers, body: json }
}

function toAnswer(c: HonoContext<HttpEnv>, rest: Rest, json: string): Response {
  const { status, headers } = describeAnswer(rest, json, c.get('actor'), c.req.header('if-none-match'))
  return new Response(status === 304 ? null : json, { status, headers })
}

/** ETags of bytes that may be sent again: those of answers that are kept are the same object each time, and never change. */
const etags = new WeakMap<Uint8Array, string>()

/** The ETag of a text. */
export function makeEtag(text: string | Uint8Array): string {
  const known = typeof text === 'string' ? undefined : etags.get(text)
  if (known !== undefined) return known
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 27)}"`
  if (typeof text !== 'string') etags.set(text, etag)
  return etag
}

/** Whether a request has the text of this ETag already. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}

/** The headers reads differ by. */
export const VARY = [...KEY_HEADERS, 'Origin'].join(', ')

/** Query parameters, turned into what the schema wants. An empty one counts as absent unless it is the text to look for. */
function readQuery(query: Record<string, string[]>, kinds: Map<string, InputKind>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, texts] of Object.entries(query)) {
    const kind = kinds.get(name)
    if (!kind) continue
    if (kind === 'list') {
      const entries = texts.flatMap((text) => text.split(',')).map((text) => text.trim())
      if (entries.some((text) => text !== '')) values[name] = entries.filter((text) => text !== '')
      continue
    }
    if (texts.length > 1) throw invalidInput(name, `${name} is given ${texts.length} times; give it once.`)
    const text = texts[0] ?? ''
    if (text !== '' || name === 'query' || name === 'q') values[name] = coerceText(text, kind)
  }
  return values
}

function readPath(parts: Record<string, string>, kinds: Map<string, InputKind>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, coerceText(String(text), kinds.get(name) ?? 'text')]))
}

/** @throws AppError `unsupported_media_type`, `invalid_input` (malformed, too deep, too many members, not an object) */
function readJsonBody(text: string, type: string): Record<string, unknown> {
  if (text === '') return {}
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new AppError('unsupported_media_type', 'Send the body as JSON with Content-Type: application/json.')
  }
  const parsed = parseJson(text)
  if (!parsed.ok) throw new AppError('invalid_input', parsed.reason)
  const object = z.looseObject({}).safeParse(parsed.value)
  if (!object.success) throw new AppError('invalid_input', 'The body must be a JSON object.')
  return object.data
}
