import { createHash } from 'node:crypto'
import type { Hono, Context as HonoContext } from 'hono'
import { z } from 'zod'
import { KEY_HEADERS } from '../auth/authenticate.ts'
import { AppError, invalidInput } from '../errors.ts'
import type { ClientOfRequest } from '../library/account-ports.ts'
import type { Actor } from '../library/actor.ts'
import { parseJson } from '../library/json.ts'
import type { CallOptions, Context, Operation, Surfaces } from '../operations/define-operation.ts'
import { coerceText, describeInputs, type InputKind } from '../operations/describe-inputs.ts'
import type { ReadBody } from './body.ts'
import { answerWithEvents, wantsEvents } from './event-stream.ts'

/** What a request carries through the routes. */
export interface HttpEnv {
  /** `caller` is whom a request is counted for; `cookies` are set with the answer. */
  Variables: { requestId: string; actor: Actor; caller: string; client: ClientOfRequest; cookies: readonly string[] }
}

/** Makes the operations' context for a request's caller. */
export type MakeContext = (actor: Actor) => Context

type Rest = NonNullable<Surfaces['rest']>

/** The pattern Hono matches for a path of an operation. */
export function toHonoPath(path: string): string {
  return path
    .replace('{collection}', ':collection{prompts|skills}')
    .replace('{filename}', ':filename{.+}')
    .replaceAll(/\{(\w+)\}/g, ':$1')
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
    const kinds = new Map(describeInputs(operation).map((input) => [input.name, input.kind]))
    app.on(rest.method, toHonoPath(rest.path), async (c) => {
      const body =
        rest.method === 'GET' || rest.method === 'DELETE' ? {} : readJsonBody(await readBody(c.req.raw), c.req.header('content-type') ?? '')
      const input = { ...readQuery(c, kinds), ...body, ...readPath(c, kinds) }
      const call = (options: CallOptions) => operation.call({ ...makeContext(c.get('actor')), ...options }, input)
      if (!operation.isStreamed) return toAnswer(c, rest, JSON.stringify(await call({})))
      if (wantsEvents(c.req.header('accept') ?? null)) return await answerWithEvents(c.req.raw, c.get('requestId'), call, onInternalError)
      return toAnswer(c, rest, JSON.stringify(await call({ signal: c.req.raw.signal })))
    })
  }
}

/** A JSON answer; anonymous reads carry an ETag and answer a matching If-None-Match with 304. */
function toAnswer(c: HonoContext<HttpEnv>, rest: Rest, json: string): Response {
  const headers = new Headers({ 'Content-Type': 'application/json; charset=utf-8' })
  if (rest.method === 'GET' && c.get('actor').kind === 'anonymous') {
    const etag = makeEtag(json)
    headers.set('ETag', etag)
    if (matchesEtag(c.req.header('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  }
  return new Response(json, { status: rest.status ?? 200, headers })
}

/** The ETag of a text. */
export function makeEtag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
}

/** Whether a request has the text of this ETag already. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}

/** The headers reads differ by. */
export const VARY = [...KEY_HEADERS, 'Origin'].join(', ')

/** Query parameters, turned into what the schema wants. An empty one counts as absent unless it is the text to look for. */
function readQuery(c: HonoContext<HttpEnv>, kinds: Map<string, InputKind>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, texts] of Object.entries(c.req.queries())) {
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

function readPath(c: HonoContext<HttpEnv>, kinds: Map<string, InputKind>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(c.req.param()).map(([name, text]) => [name, coerceText(String(text), kinds.get(name) ?? 'text')]),
  )
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
