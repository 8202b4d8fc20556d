import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Exchange } from '../exchange.ts'
import { answerWith } from './listen.ts'
import type { Pipeline } from './pipeline.ts'

let server: Server
let port: number
/** What a request's handler does beside answering, by its path. */
const handlers = new Map<string, (exchange: Exchange) => Promise<ReadableStream<Uint8Array> | undefined>>()

/** Says what came in, once the body is there. */
const pipeline: Pipeline = async (exchange, send) => {
  const { method, path, search, header } = exchange
  if (path === '/refused') return await send({ status: 403, headers: {}, body: 'refused.' })
  const chunks: Uint8Array[] = []
  const take = (chunk: Uint8Array) => {
    chunks.push(chunk)
    return chunks.reduce((sum, { length }) => sum + length, 0) < 200_000
  }
  await new Promise<void>((resolve, reject) => exchange.readBody(take, (error) => (error ? reject(error) : resolve())))
  const body = await handlers.get(path)?.(exchange)
  const read = Buffer.concat(chunks).toString('latin1')
  const text = `${method} ${path}${search} ${header('accept') ?? '-'} ${read.length > 100 ? read.length : read}.`
  await send({ status: 200, headers: { 'x-cookies': header('cookie') ?? '' }, body: body ?? text })
}

/** Until the server has read a piece; the time of a test is the bound. */
const WHEN_READ = { timeout: 100_000, interval: 1 }

beforeAll(async () => {
  server = createServer(answerWith(pipeline))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Sends pieces one after the other over one connection, and gives all that comes back once it ends with `end`. */
async function send(pieces: readonly (string | Buffer)[], end: RegExp): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (data) => {
    text += data.toString('latin1')
  })
  const [accepted] = await once(server, 'connection')
  let sent = 0
  for (const piece of pieces) {
    socket.write(piece)
    sent += Buffer.byteLength(piece, 'latin1')
    // Each piece arrives by itself; the answer to an earlier one may have ended the connection.
    await vi.waitUntil(() => accepted.bytesRead >= sent || accepted.destroyed, WHEN_READ)
  }
  await expect.poll(() => text).toMatch(end)
  socket.destroy()
  return text
}

const bodies = (text: string) => [...text.matchAll(/\r\n\r\n([^\r]*?\.)(?=HTTP|$)/g)].map(([, body]) => body)

function post(body: string | Buffer, more = ''): Buffer {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(`POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n${more}\r\n`), bytes])
}

describe('requests', () => {
  it.each([
    ['with its head', [post('{}')], 'POST /a?b=c - {}.'],
    ['later', [post('12').subarray(0, -2), '12'], 'POST /a?b=c - 12.'],
    ['in pieces', [post('1234').subarray(0, -2), '34'], 'POST /a?b=c - 1234.'],
    [
      'in chunks',
      ['POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{ \r\n', '1\r\n}\r\n0\r\n\r\n'],
      'POST /a - { }.',
    ],
    ['never, for there is none', ['GET /a HTTP/1.1\r\nHost: x\r\n\r\n'], 'GET /a - .'],
  ])('are read whole when their body comes %s', async (_, pieces, answer) => {
    expect(bodies(await send(pieces, /\.$/))).toEqual([answer])
  })

  it('are answered one after the other when they come together', async () => {
    expect(bodies(await send([Buffer.concat([post('1'), post('2'), post('3')])], /3\.$/))).toEqual([
      'POST /a?b=c - 1.',
      'POST /a?b=c - 2.',
      'POST /a?b=c - 3.',
    ])
  })

  it('have headers that came twice joined, cookies as cookies are', async () => {
    const text = await send([post('', 'Accept: a\r\nAccept: b\r\nCookie: c=1\r\nCookie: d=2\r\n')], /\.$/)
    expect(bodies(text)).toEqual(['POST /a?b=c a, b .'])
    expect(text.toLowerCase()).toContain('x-cookies: c=1; d=2\r\n')
  })

  it.each([
    ['/a/../b/./c?x=/../y', 'GET /b/c?x=/../y - .'],
    ['/a/%2e%2E/b', 'GET /b - .'],
    ['/%40ada/x%2540y', 'GET /@ada/x%2540y - .'],
    ['/%61/%7Eb%2Fc%20d?%61', 'GET /a/~b%2Fc%20d?%61 - .'],
    ['//evil/a', 'GET //evil/a - .'],
    ['http://elsewhere/a/b?c', 'GET /a/b?c - .'],
    ['/a\\..\\b', 'GET /b - .'],
  ])('for %s are for the path a browser would ask for', async (target, answer) => {
    expect(bodies(await send([`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`], /\.$/))).toEqual([answer])
  })

  it.each(['*', 'mailto:a', 'ftp://x/a'])('for %s, which is no path, are refused', async (target) => {
    expect(await send([`OPTIONS ${target} HTTP/1.1\r\nHost: x\r\n\r\n`], /\r\n\r\n$/)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('end their connection when the rest of a body is not read', async () => {
    const text = await send([`POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(300_000)}`], /\.$/)
    expect(text).toMatch(/connection: close/i)
  })
})

describe('requests that are refused before their body is read', () => {
  it.each([
    ['keep their connection when the body is short', 'Content-Length: 1000', /keep-alive/i],
    ['end their connection when it is long', 'Content-Length: 5000000', /connection: close/i],
    ['end their connection when nobody knows how long it is', 'Transfer-Encoding: chunked', /connection: close/i],
  ])('%s', async (_, header, expected) => {
    expect(await send([`POST /refused HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`], /refused\.$/)).toMatch(expected)
  })
})

describe('answers', () => {
  it('have no body for HEAD, and the length of one', async () => {
    const text = await send(['HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n'], /\r\n\r\n/)
    expect(text).toMatch(/content-length: 11\r\n/i)
    expect(text).toMatch(/\r\n\r\n$/)
  })

  it('that are streams go on at the pace of their reader, and end when it leaves', async () => {
    let pulled = 0
    const cancelled = Promise.withResolvers<void>()
    handlers.set('/stream', async () => {
      return new ReadableStream({
        pull(controller) {
          pulled++
          controller.enqueue(new Uint8Array(64 * 1024))
        },
        cancel: () => cancelled.resolve(),
      })
    })
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => pulled).toBeGreaterThan(2)
    let before = -1
    // What the system's buffers take, and no more.
    await expect
      .poll(
        () => {
          const isStill = before === pulled
          before = pulled
          return isStill
        },
        { interval: 20, timeout: 100_000 },
      )
      .toBe(true)
    expect(pulled).toBeLessThan(2_000)
    socket.destroy()
    await cancelled.promise
  })

  it('tell their handler when the client leaves', async () => {
    const left = Promise.withResolvers<boolean>()
    const entered = Promise.withResolvers<void>()
    handlers.set('/slow', async (exchange) => {
      entered.resolve()
      exchange.signal().addEventListener('abort', () => left.resolve(exchange.hasLeft()))
      await left.promise
      return undefined
    })
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await entered.promise
    socket.destroy()
    expect(await left.promise).toBe(true)
  })
})
