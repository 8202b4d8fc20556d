import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../operations/index.ts'
import { invokeRemotely, MAX_EVENT, readEvents } from './remote-invoke.ts'

const KEY = 'cpb_a-key-for-this-test'

/** One request as the other server saw it. */
interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A server on loopback that notes what it is sent. */
async function startServer(answer: (response: ServerResponse) => void): Promise<{ address: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    seen.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('no port')
  return { address: `http://127.0.0.1:${bound.port}`, seen }
}

const answerJson =
  (body: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }

describe('addresses', () => {
  it.each([
    'https://prompts.example.org',
    'https://prompts.example.org:8443/sub/',
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://[::1]:3000',
  ])('takes %s', (address) => {
    expect(invokeRemotely(OPERATIONS, address, KEY)).toEqual(expect.any(Function))
  })

  it.each([
    '',
    'prompts.example.org',
    'http://prompts.example.org',
    'http://10.0.0.1',
    'http://localhost.evil.example',
    'ftp://localhost',
    'http://127.0.0.1.evil.example',
    'http://localhost@evil.example',
    'file:///etc/passwd',
    'https://ann:secret@prompts.example.org',
    'https://ann@prompts.example.org',
  ])('refuses %j', (address) => {
    expect(() => invokeRemotely(OPERATIONS, address, KEY)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  })
})

describe('requests', () => {
  it('sends a read as GET with a query, and the key in its header alone', async () => {
    const { address, seen } = await startServer(answerJson({ query: 'a b', count: 0, prompts: [] }))
    const output = await invokeRemotely(OPERATIONS, address, KEY)('search_prompts', { query: 'a&b=c ü', limit: 5, tag: undefined })
    expect(output).toEqual({ query: 'a b', count: 0, prompts: [] })
    expect(seen).toHaveLength(1)
    const [request] = seen
    const url = new URL(request?.url ?? '', address)
    expect(request?.method).toBe('GET')
    expect(url.pathname).toBe('/api/search/prompts')
    expect([...url.searchParams]).toEqual([
      ['query', 'a&b=c ü'],
      ['limit', '5'],
    ])
    expect(request?.headers['x-api-key']).toBe(KEY)
    expect(request?.headers.authorization).toBeUndefined()
    expect(request?.headers.cookie).toBeUndefined()
    expect(request?.url).not.toContain(KEY)
    expect(request?.body).not.toContain(KEY)
  })

  it('sends no key when it has none', async () => {
    const { address, seen } = await startServer(answerJson({}))
    await invokeRemotely(OPERATIONS, address, null)('search_prompts', { query: '' })
    expect(seen[0]?.headers).not.toHaveProperty('x-api-key')
    expect(seen[0]?.headers).not.toHaveProperty('authorization')
  })

  it('sends a write as JSON, what stands in the path left out of the body', async () => {
    const { address, seen } = await startServer(answerJson({ success: true }))
    const invoke = invokeRemotely(OPERATIONS, address, KEY)
    await invoke('save_prompt', { title: 'T', content: 'a\0${x}\r\n', tags: ['a,b'] })
    await invoke('update_skill_file', { skillId: 'a skill', filename: 'docs/a b?.md', content: 'x' })
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/prompts' })
    expect(seen[0]?.headers['content-type']).toBe('application/json')
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ title: 'T', content: 'a\0${x}\r\n', tags: ['a,b'] })
    expect(seen[1]).toMatchObject({ method: 'PUT', url: '/api/skills/a%20skill/files/docs/a%20b%3F.md' })
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual({ content: 'x' })
  })

  it.each([
    ['a/b', '/api/skills/a%2Fb'],
    ['a?x=1#y', '/api/skills/a%3Fx%3D1%23y'],
    ['%2e%2e', '/api/skills/%252e%252e'],
    ['北京', '/api/skills/%E5%8C%97%E4%BA%AC'],
  ])('escapes the id %s', async (id, url) => {
    const { address, seen } = await startServer(answerJson({}))
    await invokeRemotely(OPERATIONS, address, null)('get_skill', { id })
    expect(seen[0]?.url).toBe(url)
  })

  it.each(['', '.', '..', '../admin', 'a/../b'])('refuses the id %j, which would lead elsewhere', async (id) => {
    const { address, seen } = await startServer(answerJson({}))
    await expect(invokeRemotely(OPERATIONS, address, null)('get_skill', { id })).rejects.toMatchObject({ code: 'invalid_input' })
    expect(seen).toEqual([])
  })

  it('finds the service from its address or that of MCP, below a path too', async () => {
    const { address, seen } = await startServer(answerJson({}))
    for (const end of ['', '/', '/api/mcp', '/api/mcp/', '/library/'])
      await invokeRemotely(OPERATIONS, address + end, null)('get_skill', { id: 'x' })
    expect(seen.map(({ url }) => url)).toEqual([...Array(4).fill('/api/skills/x'), '/library/api/skills/x'])
  })

  it('knows no operation by another name', async () => {
    const { address } = await startServer(answerJson({}))
    await expect(invokeRemotely(OPERATIONS, address, null)('drop_everything', {})).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('answers', () => {
  it.each([
    [400, 'invalid_input'],
    [401, 'invalid_api_key'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [413, 'too_large'],
    [429, 'rate_limited'],
    [503, 'unavailable'],
  ])('hands on the error of a %i: %s', async (status, code) => {
    const { address } = await startServer(answerJson({ error: code, message: 'The sentence.', requestId: 'r' }, status))
    const called = invokeRemotely(OPERATIONS, address, KEY)('get_skill', { id: 'x' })
    await expect(called).rejects.toMatchObject({ code, message: 'The sentence.' })
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['a code nobody knows', answerJson({ error: 'teapot', message: 'I am one.' }, 418)],
    ['a page', (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Hello</h1>')],
    ['a list', answerJson([1, 2])],
    ['nothing', (response) => response.writeHead(200).end()],
    ["an error page of a proxy's", (response) => response.writeHead(502).end('Bad gateway')],
    ['a connection that breaks', (response) => response.destroy()],
  ])('says upstream_failed to %s, and does not tell the key', async (_, answer) => {
    const { address } = await startServer(answer)
    const error: unknown = await invokeRemotely(OPERATIONS, address, KEY)('get_skill', { id: 'x' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'upstream_failed' })
    expect(String(error)).not.toContain(KEY)
  })

  it.each(['not JSON', '[]', '{"text":1}'])('tells of an event with %s in a sentence', async (data) => {
    const { address } = await startServer((response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`event: delta\ndata: ${data}\n\n`),
    )
    const called = invokeRemotely(OPERATIONS, address, KEY)('improve_prompt', { prompt: 'x' }, { onText: async () => {} })
    const message = 'Unexpected event in the response: not from a Commonplace server.'
    await expect(called).rejects.toMatchObject({ code: 'upstream_failed', message })
  })

  it.each([301, 302, 303, 307, 308])('follows no redirect (%i): the key goes nowhere else', async (status) => {
    const target = await startServer(answerJson({}))
    const { address } = await startServer((response) => response.writeHead(status, { Location: `${target.address}/elsewhere` }).end())
    await expect(invokeRemotely(OPERATIONS, address, KEY)('get_skill', { id: 'x' })).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(target.seen).toEqual([])
  })
})

/** The events in bytes that come in pieces of this size. */
const read = async (text: string, size: number) => {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))
  return await Array.fromAsync(readEvents(ReadableStream.from(pieces)))
}

const STREAM =
  'event: delta\ndata: {"text":"é 😀"}\n\n: keep-alive\n\nevent:result\ndata:{}\ndata: 2\n\ndata: plain\n\nevent: lost\ndata: half'

it.each([1, 2, 3, 7, 1000])('reads events from pieces of %i bytes', async (size) => {
  const events = [
    { event: 'delta', data: '{"text":"é 😀"}' },
    { event: 'result', data: '{}\n2' },
    { event: 'message', data: 'plain' },
  ]
  expect(await read(STREAM, size)).toEqual(events)
  expect(await read(STREAM.replaceAll('\n', '\r\n'), size)).toEqual(events)
})

it('takes time that grows with the length alone, and no event without end', async () => {
  // Quadratic time would outlast the test.
  const text = `data: ${'x'.repeat(300_000)}\n\n`
  expect((await read(text, 1))[0]?.data.length).toBe(300_000)
  const endless = (line: string) =>
    Array.fromAsync(
      readEvents(
        (async function* () {
          for (;;) yield Buffer.from(line)
        })(),
      ),
    )
  const refused = { code: 'upstream_failed', message: `The response contains an event of more than ${MAX_EVENT} characters.` }
  await expect(endless('x'.repeat(1000))).rejects.toMatchObject(refused)
  await expect(endless('data: x\n'.repeat(100))).rejects.toMatchObject(refused)
})
