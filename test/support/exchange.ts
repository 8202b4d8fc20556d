import type { Answer, Exchange } from '../../src/exchange.ts'
import type { Pipeline } from '../../src/server/pipeline.ts'

/** A Request as routes get it, without a connection. */
export function toExchange(request: Request, remoteAddress = ''): Exchange {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    search,
    remoteAddress,
    signal: () => request.signal,
    hasLeft: () => request.signal.aborted,
    header: (name) => request.headers.get(name) ?? undefined,
    readBody(onChunk, onEnd) {
      readAll(request, onChunk).then(() => onEnd(), onEnd)
    },
  }
}

async function readAll(request: Request, onChunk: (chunk: Uint8Array) => boolean): Promise<void> {
  const reader = request.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) return
    if (!onChunk(value)) return void reader.cancel().catch(() => {})
  }
}

/** Sends a request through the whole pipeline, without a port. */
export function answerRequest(pipeline: Pipeline, request: Request, remoteAddress?: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    pipeline(toExchange(request, remoteAddress), async (answer) => {
      const { response, taken } = toResponse(answer, request.method)
      resolve(response)
      await taken
    }).catch(reject)
  })
}

/** An answer as a client sees it; `taken` resolves when its body is read to the end or given up. */
function toResponse({ status, headers, body }: Answer, method: string): { response: Response; taken: Promise<void> } {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) sent.append(name, one)
  // As a connection does it.
  if (method === 'HEAD' && body instanceof ReadableStream) void body.cancel()
  if (method === 'HEAD' || status === 204 || status === 304 || body === null) {
    return { response: new Response(null, { status, headers: sent }), taken: Promise.resolve() }
  }
  if (!(body instanceof ReadableStream)) {
    return {
      response: new Response(typeof body === 'string' ? body : new Uint8Array(body), { status, headers: sent }),
      taken: Promise.resolve(),
    }
  }
  const taken = Promise.withResolvers<void>()
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        taken.resolve()
        controller.close()
      } catch (error) {
        taken.resolve()
        controller.error(error)
      }
    },
    async cancel(reason) {
      taken.resolve()
      await reader.cancel(reason)
    },
  })
  return { response: new Response(watched, { status, headers: sent }), taken: taken.promise }
}
