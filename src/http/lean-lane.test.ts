import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LeanLane, readPlainHeaders, takeLeanLane } from './lean-lane.ts'

let server: Server
let port: number

/** Takes what does not say that it is odd. */
const lane: LeanLane = ({ method, path, search, body }) => {
  if (body.includes('odd at once')) return null
  return Promise.resolve(body.includes('odd later') ? null : { status: 200, headers: {}, body: `lean ${method} ${path}${search} ${body}` })
}

/** The body as node-server finds it. */
async function readBody(incoming: IncomingMessage & { rawBody?: unknown }): Promise<string> {
  if (incoming.rawBody instanceof Buffer) return incoming.rawBody.toString('latin1')
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('latin1')
}

beforeAll(async () => {
  server = createServer(
    takeLeanLane(lane, (incoming, outgoing) => {
      void readBody(incoming).then((body) =>
        outgoing.end(`full ${incoming.method} ${incoming.url} ${body.length > 100 ? body.length : body}`, 'latin1'),
      )
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => {
  server.close()
})

/** Sends pieces one after the other over one connection, and gives the bodies of as many answers as are awaited. */
async function send(pieces: readonly (string | Buffer)[], answers = 1): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (data) => {
    text += data.toString('latin1')
  })
  for (const piece of pieces) {
    socket.write(piece)
    await sleep(20)
  }
  const read = () =>
    [...text.matchAll(/\r\n\r\n(?:[0-9a-f]+\r\n)?((?:lean|full) [^\r]*?)(?=\r\n|HTTP\/1\.1|$)/g)].map(([, body = '']) => body)
  await expect.poll(read).toHaveLength(answers)
  socket.destroy()
  return read()
}

function post(body: string | Buffer, more = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = `POST /api/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n${more}\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

it('takes a request whose body comes with its head, and reads without one', async () => {
  expect(await send([post('{}')])).toEqual(['lean POST /api/mcp {}'])
  expect(await send(['GET /api/prompts?q=a HTTP/1.1\r\nHost: localhost\r\n\r\n'])).toEqual(['lean GET /api/prompts?q=a '])
})

it('answers requests that come together one after the other', async () => {
  expect(await send([Buffer.concat([post('1'), post('odd at once'), post('2')])], 3)).toEqual([
    'lean POST /api/mcp 1',
    'full POST /api/mcp odd at once',
    'lean POST /api/mcp 2',
  ])
})

it.each([
  ['the lane does not take', [post('odd at once')], 'full POST /api/mcp odd at once'],
  ['the lane does not take after a moment', [post('odd later')], 'full POST /api/mcp odd later'],
  ['has a body that is no UTF-8', [post(Buffer.from([0x61, 0xff]))], 'full POST /api/mcp a\u00ff'],
  ['has a large body', [post('x'.repeat(70_000))], 'full POST /api/mcp 70000'],
  ['has a header twice', [post('{}', 'Accept: a\r\nAccept: b\r\n')], 'full POST /api/mcp {}'],
  ['comes from a page', [post('{}', 'Origin: http://localhost\r\n')], 'full POST /api/mcp {}'],
  ['is of another method', ['PUT /api/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'], 'full PUT /api/mcp '],
  ['is encoded', ['GET /api/%70rompts HTTP/1.1\r\nHost: localhost\r\n\r\n'], 'full GET /api/%70rompts '],
  ['leads up', ['GET /api/../prompts HTTP/1.1\r\nHost: localhost\r\n\r\n'], 'full GET /api/../prompts '],
])('leaves to the full lane, with all of its body, what %s', async (_, pieces, answer) => {
  expect(await send(pieces)).toEqual([answer])
})

it.each([
  ['later', [post('12').subarray(0, -2), '12'], '12'],
  ['in pieces', [post('1234').subarray(0, -2), '34'], '1234'],
])('answers a request whose body comes %s, with all of it', async (_, pieces, body) => {
  // Which lane does depends on when the pieces are read.
  expect((await send(pieces))[0]?.replace(/^(?:lean|full) /, '')).toBe(`POST /api/mcp ${body}`)
})

it('reads headers by name in lower case, and none that are unusual', () => {
  expect(readPlainHeaders(['Host', 'a', 'Accept', 'b'])).toEqual(
    new Map([
      ['host', 'a'],
      ['accept', 'b'],
    ]),
  )
  for (const headers of [
    [],
    ['Host', 'a b'],
    ['Host', 'a', 'host', 'a'],
    ['Host', 'a', 'Transfer-Encoding', 'chunked'],
    ['Host', 'a', 'Mcp-Session-Id', 'x'],
  ]) {
    expect(readPlainHeaders(headers), headers.join()).toBeNull()
  }
})
