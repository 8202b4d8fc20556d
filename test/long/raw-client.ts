import { connect, type Socket } from 'node:net'

/** One end of a plain TCP connection to the service. It costs its own process next to nothing, so it can attack on a core it shares. */
export interface RawClient {
  readonly socket: Socket
  /** Sends bytes and resolves with the status of the answer once all of it came; rejects when the connection ends before. */
  ask(bytes: Buffer): Promise<number>
}

/** Where a client connects to, and the local address it comes from. */
export interface Route {
  readonly host: string
  readonly port: number
  readonly from: string
}

/** The bytes of a request. Without `contentLength` the header says how long the body is. */
export function requestBytes(
  method: string,
  path: string,
  { headers = {}, body = '', contentLength }: { headers?: Record<string, string>; body?: string; contentLength?: number } = {},
): Buffer {
  const length = contentLength ?? Buffer.byteLength(body)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const framing = method === 'GET' ? '' : `Content-Length: ${length}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}${framing}\r\n${body}`)
}

/** A connection that reads what comes. */
export function openClient({ host, port, from }: Route): RawClient {
  const socket = connect({ host, port, localAddress: from, noDelay: true })
  let head = ''
  /** Bytes of the body still to come; null while the head is read, Infinity when the body comes in chunks. */
  let missing: number | null = null
  let tail = Buffer.alloc(0)
  let status = 0
  let waiting: PromiseWithResolvers<number> | null = null
  const finish = () => {
    head = ''
    missing = null
    tail = Buffer.alloc(0)
    waiting?.resolve(status)
    waiting = null
  }
  const readBody = (bytes: Buffer) => {
    if (missing === Number.POSITIVE_INFINITY) {
      tail = Buffer.concat([tail, bytes]).subarray(-5)
      if (tail.toString('latin1') === '0\r\n\r\n') finish()
      return
    }
    missing = (missing ?? 0) - bytes.length
    if (missing <= 0) finish()
  }
  socket.on('data', (bytes) => {
    if (missing !== null) return readBody(bytes)
    head += bytes.toString('latin1')
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end))?.[1]
    missing = length === undefined ? Number.POSITIVE_INFINITY : Number(length)
    readBody(Buffer.from(head.slice(end + 4), 'latin1'))
  })
  const fail = () => {
    waiting?.reject(new Error('The connection ended before the answer did.'))
    waiting = null
  }
  socket.on('error', fail)
  socket.on('close', fail)
  return {
    socket,
    ask(bytes) {
      if (socket.destroyed) return Promise.reject(new Error('The connection has ended.'))
      waiting = Promise.withResolvers<number>()
      socket.write(bytes)
      return waiting.promise
    },
  }
}

/** A connection that sends some bytes and never reads. */
export function openDeafClient({ host, port, from }: Route, bytes: Buffer): Socket {
  const socket = connect({ host, port, localAddress: from })
  socket.pause()
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}
