import { type AppError, toAppError } from '../errors.ts'
import type { CallOptions } from '../operations/define-operation.ts'
import { toErrorBody } from './errors.ts'

/** How often something is sent while nothing happens, so that proxies keep the connection; the first time also begins the answer. */
const KEEP_ALIVE_MS = 10_000
/** How long a reader may take over the last event. */
const LAST_EVENT_MS = 30_000
const EVENT_STREAM = 'text/event-stream'
const HEADERS = { 'Content-Type': `${EVENT_STREAM}; charset=utf-8`, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }

/** Whether a request's Accept header asks for events before JSON. */
export function wantsEvents(accept: string | null): boolean {
  const named = (accept ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase())
  const events = named.indexOf(EVENT_STREAM)
  const json = named.indexOf('application/json')
  return events !== -1 && (json === -1 || events < json)
}

/**
 * Answers a call as server-sent events: `delta` with text to append, `restart` when what came so far is void, and last `result` with
 * the whole answer or `error` with an error as REST shows it. What fails before the first event is thrown, and has its own status.
 * A reader that is slow slows the call down; one that leaves ends it.
 */
export async function answerWithEvents(
  request: Request,
  requestId: string,
  call: (options: CallOptions) => Promise<Record<string, unknown>>,
  onInternalError: (error: AppError, requestId: string) => void,
): Promise<Response> {
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
        signal: AbortSignal.any([request.signal, left.signal]),
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
      if (error.code === 'internal' && !left.signal.aborted) onInternalError(error, requestId)
      await sendLast('error', toErrorBody(error, requestId))
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
  return new Response(readable, { headers: HEADERS })
}
