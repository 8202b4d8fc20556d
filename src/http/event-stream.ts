import { parseAccept } from 'hono/utils/accept'
import { type AppError, toAppError } from '../errors.ts'
import type { CallOptions } from '../operations/core/procedure.ts'
import { toErrorBody } from './errors.ts'

/** How often something is sent while nothing happens, so that proxies keep the connection; the first time also begins the answer. */
const KEEP_ALIVE_MS = 10_000
/** How long a reader may take over the last event. */
const LAST_EVENT_MS = 30_000
const EVENT_STREAM = 'text/event-stream'
const HEADERS = { 'content-type': `${EVENT_STREAM}; charset=utf-8`, 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

/** Whether a request's Accept header prefers events to JSON (RFC 9110, 12.5.1): by name, with the higher weight; of equal weights the first. */
export function wantsEvents(accept: string | null): boolean {
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
