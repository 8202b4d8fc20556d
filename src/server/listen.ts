import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../errors.ts'
import type { Answer, Exchange } from '../exchange.ts'
import type { Pipeline } from './pipeline.ts'

/** Longest time a client may take to send its request. */
const REQUEST_TIMEOUT_MS = 30_000
/** Interval of that check. */
const TIMEOUT_CHECK_MS = 5_000
/** A connection that reads nothing of its answer for so long is dropped. */
const STALL_MS = 60_000
/** The connection is closed when more than this of a body is still unread after the answer: reading on would help a flood. */
const MAX_UNREAD_BYTES = 256 * 1024
/** Targets in normal form: no dot segment, no backslash, no needless encoding. */
const PLAIN_TARGET = /^\/(?![^?]*(?:\\|\/\.|%[2-7]))[^#\s]*$/

/** Handles connections; it may be replaced while the server listens. */
export interface Front {
  pipeline: Pipeline
  noteConnection: () => void
  /** Whether each answer is the last one of its connection. */
  isStopping: boolean
}

/** A server that listens. */
export interface ListeningServer extends Server {
  /** Requests being answered; these promises never reject. */
  underWay(): readonly Promise<void>[]
  /** Closes connections without a request: idle keep-alive ones, and silent ones, which Node keeps. */
  closeSilent(): void
}

/** Starts listening. @throws AppError `unavailable` when the port is taken or not allowed */
export async function listen({ host, port }: { host: string; port: number }, front: Front): Promise<ListeningServer> {
  const timeouts = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  }
  const underWay = new Set<Promise<void>>()
  const answer = answerWith(
    (exchange, send) => front.pipeline(exchange, send),
    () => front.isStopping,
  )
  const server = createServer(timeouts, (incoming, outgoing) => {
    const answered = answer(incoming, outgoing)
    underWay.add(answered)
    void answered.then(() => underWay.delete(answered))
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    front.noteConnection()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new AppError('unavailable', `Could not listen on ${host}:${port}: ${error.message}. Set PORT or HOST.`, { cause: error })),
    )
    server.listen(port, host, resolve)
  })
  return Object.assign(server, {
    underWay: () => [...underWay],
    closeSilent() {
      server.closeIdleConnections()
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    },
  })
}

/**
 * The handler of a server's requests; resolves when a request is answered.
 * @param isStopping whether an answer is the last one of its connection
 */
export function answerWith(
  pipeline: Pipeline,
  isStopping = () => false,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const exchange = readExchange(incoming, outgoing)
    if (!exchange) {
      outgoing.writeHead(400, { 'content-length': '0', connection: 'close' }).end()
      return
    }
    const answer: Parameters<Pipeline>[1] = (one) => {
      const isLeftUnread = !incoming.complete && incoming.readableFlowing === null && hasLongBody(exchange)
      if (isLeftUnread || isStopping()) outgoing.shouldKeepAlive = false
      return send(one, exchange.method, outgoing)
    }
    await pipeline(exchange, answer).catch(() => outgoing.destroy())
  }
}

/** Whether much of a body is still unread. */
function hasLongBody({ header }: Exchange): boolean {
  const length = header('content-length')
  return length === undefined ? header('transfer-encoding') !== undefined : Number(length) > MAX_UNREAD_BYTES
}

/** A request of `node:http`; null when its target is no path. */
function readExchange(incoming: IncomingMessage, outgoing: ServerResponse): Exchange | null {
  const target = readTarget(incoming.url ?? '')
  if (!target) return null
  const headers = readHeaders(incoming.rawHeaders)
  let client: AbortController | undefined
  return {
    method: incoming.method ?? 'GET',
    ...target,
    remoteAddress: incoming.socket.remoteAddress ?? '',
    signal() {
      if (client) return client.signal
      const left = new AbortController()
      client = left
      if (outgoing.destroyed) left.abort()
      else outgoing.once('close', () => outgoing.writableFinished || left.abort())
      return left.signal
    },
    hasLeft: () => outgoing.destroyed,
    header: (name) => headers.get(name),
    readBody(onChunk, onEnd) {
      const take = (chunk: Uint8Array) => {
        if (onChunk(chunk)) return
        // The rest of the body is unread, so the connection cannot be reused.
        incoming.off('data', take).pause()
        outgoing.shouldKeepAlive = false
        onEnd()
      }
      incoming.on('data', take)
      incoming.once('end', () => onEnd())
      incoming.once('error', onEnd)
      // The body was read, or the client left, before this call.
      if (incoming.readableEnded) onEnd()
      else if (incoming.destroyed) onEnd(new Error('The request was closed'))
    },
  }
}

/** Path and query of a request target (RFC 9112, 3.2), dot segments resolved as browsers do. */
function readTarget(url: string): { path: string; search: string } | null {
  if (PLAIN_TARGET.test(url)) {
    const mark = url.indexOf('?')
    return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark) }
  }
  const parsed = URL.parse(url.startsWith('/') ? `http://localhost${url}` : url)
  return parsed && /^https?:$/.test(parsed.protocol) ? { path: decodeUnreserved(parsed.pathname), search: parsed.search } : null
}

/** Decodes needless percent-encoding (RFC 3986, 6.2.2.2), also of `@`, which some clients encode in a path. */
function decodeUnreserved(path: string): string {
  return path.replaceAll(/%([2-7][0-9a-f])/gi, (encoded, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return /[\w.~@-]/.test(character) ? character : encoded
  })
}

function readHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    const value = rawHeaders[at + 1] ?? ''
    const previous = headers.get(name)
    headers.set(name, previous === undefined ? value : `${previous}${name === 'cookie' ? '; ' : ', '}${value}`)
  }
  return headers
}

/** Sends an answer; resolves when the client has taken it or left. */
async function send({ status, headers, body }: Answer, method: string, outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) {
    if (body instanceof ReadableStream) await body.cancel().catch(() => {})
    return
  }
  const sent = new Promise<void>((resolve) => outgoing.once('close', resolve))
  if (body instanceof ReadableStream) {
    outgoing.writeHead(status, headers)
    if (method === 'HEAD') {
      void body.cancel().catch(() => {})
      outgoing.end()
    } else await pump(body, outgoing)
    return await sent
  }
  // An answer without content names no length (RFC 9110, 8.6).
  if (status !== 204 && status !== 304) headers['content-length'] = String(body === null ? 0 : Buffer.byteLength(body))
  outgoing.writeHead(status, headers)
  if (method === 'HEAD' || body === null) outgoing.end()
  else outgoing.end(body)
  // A pipelined answer has no socket yet.
  if (!outgoing.socket || outgoing.socket.writableLength > 0) dropWhenStalled(outgoing)
  await sent
}

/** Sends a stream at the pace its reader takes it. */
async function pump(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader()
  let wake = () => {}
  outgoing.on('drain', () => wake())
  outgoing.once('close', () => {
    wake()
    reader.cancel().catch(() => {})
  })
  outgoing.flushHeaders()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || outgoing.destroyed) break
      if (!outgoing.write(value)) {
        dropWhenStalled(outgoing)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        outgoing.setTimeout(0)
      }
    }
    outgoing.end()
    dropWhenStalled(outgoing)
  } catch {
    // A partial answer must not look complete.
    outgoing.destroy()
  }
}

/** Node counts write progress as activity, and destroys a connection whose timeout is unhandled: this drops clients that read nothing. */
function dropWhenStalled(outgoing: ServerResponse): void {
  outgoing.setTimeout(STALL_MS)
}
