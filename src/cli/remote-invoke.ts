import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { KEY_HINTS } from '../auth/credentials.ts'
import { isLoopback } from '../domain/text/addresses.ts'
import { tryJson } from '../domain/text/json.ts'
import { AppError, ERROR_CODES } from '../errors.ts'
import type { Invoke, Operation } from '../operations/core/define-operation.ts'
import type { CallOptions } from '../operations/core/procedure.ts'

/** One server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Longest event taken, in UTF-16 units: an improved prompt and its original fit many times over. */
export const MAX_EVENT = 1024 * 1024

/**
 * Reads server-sent events as they come; comments and an event that is cut off are skipped.
 * @throws AppError `upstream_failed` for an event that does not end within {@link MAX_EVENT}
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const utf8 = new TextDecoder()
  let events: ServerEvent[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ event = 'message', data }) => events.push({ event, data }),
    onError(error) {
      isTooLong ||= error.type === 'max-buffer-size-exceeded'
    },
  })
  for await (const chunk of chunks) {
    parser.feed(utf8.decode(chunk, { stream: true }))
    yield* events
    events = []
    if (isTooLong) throw new AppError('upstream_failed', `The response contains an event of more than ${MAX_EVENT} characters.`)
  }
}

/** Longest wait for another server's answer, and for one that it takes its time to write. */
const TIMEOUT_MS = 30_000
const STREAMED_TIMEOUT_MS = 300_000
/** Largest answer taken, in bytes: a skill of 8 MiB in base64 fits. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

const errorBody = z.object({ error: z.string(), message: z.string(), retryAfterSeconds: z.number().optional().catch(undefined) })
const objectBody = z.record(z.string(), z.unknown())
const deltaBody = z.object({ text: z.string() })
const errorCode = z.enum(Object.keys(ERROR_CODES))

/**
 * Operations called on another Commonplace over its REST interface.
 * Only over https (or to this machine), never following a redirect: a key goes where it was meant to go or nowhere.
 * @param keyHint how the key is given here, said instead of the other server's own words
 * @throws AppError `invalid_input` for an address that is not allowed
 */
export function invokeRemotely(
  operations: readonly Operation[],
  address: string,
  key: string | null,
  keyHint: string = KEY_HINTS.remote,
): Invoke {
  const base = URL.parse(address)
  if (!base || !(base.protocol === 'https:' || (base.protocol === 'http:' && isLoopback(base.hostname)))) {
    throw new AppError('invalid_input', `--url must be an https address (or http on this machine); got "${address.slice(0, 200)}".`)
  }
  if (base.username || base.password)
    throw new AppError('invalid_input', '--url must not contain a username or password; set PROMPTS_API_KEY instead.')
  const root = base.origin + base.pathname.replace(/\/(api\/mcp)?\/?$/, '')
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  return async (name, input, options = {}) => {
    const operation = byName.get(name)
    const rest = operation?.surfaces.rest
    if (!rest) throw new AppError('not_found', `Operation "${name}" is not available over HTTP.`)
    const values = objectBody.parse(input ?? {})
    const { path, rest: others } = fillPath(rest.path, values)
    const isQuery = rest.method === 'GET' || rest.method === 'DELETE'
    const timeout = AbortSignal.timeout(operation.isStreamed ? STREAMED_TIMEOUT_MS : TIMEOUT_MS)
    const request: RequestInit = {
      method: rest.method,
      headers: {
        Accept: options.onText && operation.isStreamed ? 'text/event-stream, application/json' : 'application/json',
        ...(isQuery ? {} : { 'Content-Type': 'application/json' }),
        ...(key === null ? {} : { 'X-API-Key': key }),
      },
      ...(isQuery ? {} : { body: JSON.stringify(others) }),
      redirect: 'error',
      signal: options.signal ? AbortSignal.any([timeout, options.signal]) : timeout,
    }
    const { isDone, text, status } = await send(root + path + (isQuery ? toQuery(others) : ''), request, options.onText)
    const body = parse(text)
    if (isDone && body) return body
    const error = errorBody.safeParse(body)
    if (error.success) {
      const { error: code, message, retryAfterSeconds } = error.data
      if (code === 'unauthenticated') throw new AppError(code, `${name} needs ${keyHint}`)
      throw new AppError(errorCode.catch('upstream_failed').parse(code) as keyof typeof ERROR_CODES, message, {
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      })
    }
    throw new AppError('upstream_failed', `${root} returned ${status}, and is not a Commonplace server.`)
  }
}

/** The response: the JSON of the answer or of the error. */
interface Answer {
  readonly isDone: boolean
  readonly status: number
  readonly text: string
}

/** Sends and reads the whole answer. @throws AppError `upstream_failed` when either fails, is cut off, or takes too long */
async function send(url: string, request: RequestInit, onText: CallOptions['onText']): Promise<Answer> {
  try {
    const response = await fetch(url, request)
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    if (onText && response.ok && isEvents) return await followEvents(response, onText)
    return { isDone: response.ok, status: response.status, text: Buffer.concat(await Array.fromAsync(bounded(response))).toString('utf8') }
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error)
    throw new AppError('upstream_failed', `Could not reach ${new URL(url).origin}: ${reason}.`, { cause: error })
  }
}

/** Hands on the text of an answer as it comes, up to its last event. */
async function followEvents(response: Response, onText: NonNullable<CallOptions['onText']>): Promise<Answer> {
  for await (const { event, data } of readEvents(bounded(response))) {
    if (event === 'delta') {
      const delta = deltaBody.safeParse(parse(data))
      if (!delta.success) throw new AppError('upstream_failed', 'Unexpected event in the response: not from a Commonplace server.')
      await onText({ kind: 'delta', text: delta.data.text })
    }
    if (event === 'restart') await onText({ kind: 'restart' })
    else if (event === 'result' || event === 'error') return { isDone: event === 'result', status: response.status, text: data }
  }
  throw new AppError('upstream_failed', 'The response was cut off.')
}

async function* bounded(response: Response): AsyncGenerator<Uint8Array, void> {
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_ANSWER_BYTES) throw new AppError('upstream_failed', `The response exceeds ${MAX_ANSWER_BYTES} bytes.`)
    yield chunk
  }
}

function parse(text: string): Record<string, unknown> | null {
  return objectBody.safeParse(tryJson(text)).data ?? null
}

/** Puts inputs into the braces of a path, and gives back those that go elsewhere. */
function fillPath(path: string, values: Record<string, unknown>): { path: string; rest: Record<string, unknown> } {
  const rest = { ...values }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name] ?? '')
    delete rest[name]
    if (value === '' || !value.isWellFormed() || value.split('/').some((part) => part === '.' || part === '..'))
      throw new AppError('invalid_input', `${name} is not valid.`)
    return name === 'filename' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })
  return { path: filled, rest }
}

function toQuery(values: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) query.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  return query.size > 0 ? `?${query}` : ''
}
