import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKey, createUser, savePrompts } from '../support/library-fixtures.ts'
import { createPlace, MAIN } from '../support/processes.ts'
import { readUntil } from '../support/test-app.ts'

/** Questions to the user and sessions, with the official client against the built program. */

const place = createPlace()
let url = ''
let key = ''
const TEXT = 'Write to ${who} about ${topic:tea} with ${api key:none}.'

beforeAll(async () => {
  await createUser(place.databaseUrl, 'ada', 'public')
  await savePrompts(place.databaseUrl, 'ada', [
    { title: 'Letter', content: TEXT },
    { title: 'Plain', content: 'no blanks' },
  ])
  key = await createKey(place.databaseUrl, 'ada')
  const server = await place.serveHere()
  url = server.url
})
afterAll(() => place.remove())

type Mode = 'legacy' | { pin: '2026-07-28' }
type Asked = { message: string; requestedSchema: { properties: Record<string, Record<string, unknown>>; required?: string[] } }
const INFO = { name: 'test', version: '1' }
/** As editors declare themselves. */
const CAPABILITIES = { elicitation: { form: { applyDefaults: true } }, roots: { listChanged: true }, sampling: {} }

/** A client whose user answers as told; `asked` collects the forms. */
async function connect(how: Mode | 'stdio' | 'stdio to server', answer: (asked: Asked) => Promise<ElicitResult>) {
  const asked: Asked[] = []
  const isStdio = how === 'stdio' || how === 'stdio to server'
  const client = new Client(INFO, { capabilities: CAPABILITIES, ...(isStdio ? {} : { versionNegotiation: { mode: how } }) })
  client.setRequestHandler('elicitation/create', async (request) => {
    const form: Asked = JSON.parse(JSON.stringify(request.params))
    asked.push(form)
    return await answer(form)
  })
  await client.connect(
    isStdio
      ? new StdioClientTransport({
          command: process.execPath,
          args: [MAIN, 'mcp', ...(how === 'stdio' ? [] : ['--url', url])],
          env: place.env,
        })
      : new StreamableHTTPClientTransport(new URL(`${url}/api/mcp`)),
  )
  return { client, asked }
}

const contentOf = (result: { content: unknown }) => {
  const [block] = Array.isArray(result.content) ? result.content : []
  return JSON.parse(block.text)
}

for (const how of ['legacy', { pin: '2026-07-28' }, 'stdio', 'stdio to server'] as const) {
  describe(`asking for variables, ${typeof how === 'string' ? how : how.pin}`, () => {
    let answer: ElicitResult = { action: 'decline' }
    let connection: Awaited<ReturnType<typeof connect>>
    beforeAll(async () => {
      connection = await connect(how, async () => answer)
    })
    afterAll(() => connection.client.close())
    beforeEach(() => {
      connection.asked.length = 0
    })

    it('puts accepted values and defaults in, with one field a variable and never for a secret', async () => {
      const { client, asked } = connection
      answer = { action: 'accept', content: { who: 'Ada ${topic}', topic: 'coffee' } }
      const result = contentOf(await client.callTool({ name: 'get_prompt', arguments: { id: 'letter' } }))
      expect(result.content).toBe('Write to Ada ${topic} about coffee with none.')
      expect(result.originalContent).toBe(TEXT)
      expect(asked.length).toBe(1)
      expect(Object.keys(asked[0]?.requestedSchema.properties ?? {})).toEqual(['who', 'topic'])
      expect(asked[0]?.requestedSchema.properties['topic']).toMatchObject({ type: 'string', default: 'tea' })
      expect(asked[0]?.requestedSchema.required).toEqual(['who'])
      const prompt = await client.getPrompt({ name: 'letter', arguments: { topic: 'cake' } })
      expect(prompt.messages[0]?.content).toMatchObject({ text: 'Write to Ada ${topic} about cake with none.' })
      expect(Object.keys(asked[1]?.requestedSchema.properties ?? {})).toEqual(['who'])
    })

    it.each(['decline', 'cancel'] as const)('gives the raw text on %s, and asks nothing that needs no answer', async (action) => {
      const { client, asked } = connection
      answer = { action }
      const raw = contentOf(await client.callTool({ name: 'get_prompt', arguments: { id: 'letter' } }))
      expect([raw.content, raw.originalContent]).toEqual([TEXT, undefined])
      const prompt = await client.getPrompt({ name: 'letter' })
      expect(prompt.messages[0]?.content).toMatchObject({ text: 'Write to ${who} about tea with none.' })
      expect(prompt._meta?.['commonplace/unfilled']).toEqual(['who'])
      const count = asked.length
      await client.callTool({ name: 'get_prompt', arguments: { id: 'plain' } })
      await client.callTool({ name: 'get_prompt', arguments: { id: 'letter', variables: {} } })
      await client.getPrompt({ name: 'letter', arguments: { who: 'x' } })
      await client.callTool({ name: 'search_prompts', arguments: { query: 'letter' } })
      expect(asked.length).toBe(count)
    })
  })
}

it('gives the raw text when asking fails, though the client said that it can', async () => {
  const { client, asked } = await connect('legacy', async () => {
    throw new Error('no form here')
  })
  const raw = contentOf(await client.callTool({ name: 'get_prompt', arguments: { id: 'letter' } }))
  expect([raw.content, raw.originalContent, asked.length]).toEqual([TEXT, undefined, 1])
  await client.close()
})

const post = async (body: unknown, headers: Record<string, string> = {}) =>
  await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  })
const initialize = (capabilities: object = {}, protocolVersion = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities, clientInfo: INFO },
})
const open = async (capabilities: object = {}, headers: Record<string, string> = {}) => {
  const response = await post(initialize(capabilities), headers)
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}
const getLetter = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'get_prompt', arguments: { id: 'letter' } } }

describe('sessions', () => {
  it('are opened by initialize for clients that take a stream, and end with DELETE', async () => {
    const id = await open()
    expect(id).toMatch(/^[\w-]{100,1024}$/)
    const session = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status).toBe(202)
    const ping = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, session)
    expect([ping.status, ping.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'application/json'])
    expect((await fetch(`${url}/api/mcp`, { method: 'DELETE', headers: session })).status).toBe(200)
    const gone = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, session)
    expect([gone.status, Object(await gone.json())]).toEqual([
      404,
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32001,
          message: expect.stringContaining('Initialize again'),
          data: { code: 'not_found', requestId: expect.any(String) },
        },
      },
    ])
    const plain = await post(initialize(), { accept: 'application/json' })
    expect(plain.headers.get('mcp-session-id')).toBeNull()
  })

  it('belong to the key that opened them', async () => {
    const id = await open({}, { PROMPTS_API_KEY: key })
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    expect((await post(ping, { 'mcp-session-id': id, PROMPTS_API_KEY: key })).status).toBe(200)
    expect((await post(ping, { 'mcp-session-id': id })).status).toBe(404)
    const other = await createKey(place.databaseUrl, 'ada')
    expect((await post(ping, { 'mcp-session-id': id, PROMPTS_API_KEY: other })).status).toBe(404)
    expect((await fetch(`${url}/api/mcp`, { headers: { 'mcp-session-id': id, accept: 'text/event-stream' } })).status).toBe(404)
    expect((await post(ping, { 'mcp-session-id': 'made-up' })).status).toBe(404)
  })

  it('answer without a question where the client cannot be asked', async () => {
    for (const [capabilities, headers] of [
      [{}, {}],
      [{ elicitation: { url: {} } }, {}],
      [{ elicitation: {} }, { accept: 'application/json' }],
    ] as [object, Record<string, string>][]) {
      const id = await open(capabilities)
      const body = Object(await (await post(getLetter, { 'mcp-session-id': id, ...headers })).json())
      expect(JSON.parse(body.result.content[0].text).content).toBe(TEXT)
    }
  })

  it('let a client whose stream broke go on from the last it saw, and answer', async () => {
    const id = await open({ elicitation: {} })
    const session = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const leaving = new AbortController()
    const stream = await fetch(`${url}/api/mcp`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session },
      body: JSON.stringify(getLetter),
    })
    const seen = await readUntil(stream, 'elicitation/create')
    const lastId = [...seen.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? ''
    const question = JSON.parse(/data: (\{.*elicitation\/create.*\})/.exec(seen)?.[1] ?? '{}')
    leaving.abort()
    const again = await fetch(`${url}/api/mcp`, { headers: { ...session, accept: 'text/event-stream', 'last-event-id': lastId } })
    expect([again.status, again.ok ? '' : await again.text()]).toEqual([200, ''])
    expect((await post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { who: 'Eve' } } }, session)).status).toBe(
      202,
    )
    expect(await readUntil(again, '"id":7')).toContain('Write to Eve about tea')
    await again.body?.cancel()
  })

  it('end the stream of a question whose asker no longer waits, and take an id once at a time', async () => {
    const id = await open({ elicitation: {} })
    const session = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const stream = await post(getLetter, session)
    await readUntil(stream, 'elicitation/create')
    const twin = await post(getLetter, session)
    expect([twin.status, Object(await twin.json()).error.data.code]).toEqual([400, 'invalid_input'])
    expect((await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session)).status).toBe(202)
    await readUntil(stream, 'never said, so read to the end')
    expect((await post({ ...getLetter, id: 8.5 }, session)).status).toBe(200)
  })

  it('of one caller make room for each other, and never for another caller’s question', async () => {
    const victim = await open({ elicitation: {} }, { PROMPTS_API_KEY: key })
    const asked = await post(getLetter, { 'mcp-session-id': victim, PROMPTS_API_KEY: key })
    await readUntil(asked, 'elicitation/create')
    const streams: Response[] = []
    for (let i = 0; i < 101; i++)
      streams.push(await fetch(`${url}/api/mcp`, { headers: { 'mcp-session-id': await open(), accept: 'text/event-stream' } }))
    // The first ends.
    await streams[0]?.text()
    expect(
      (await post({ jsonrpc: '2.0', id: 0, result: { action: 'decline' } }, { 'mcp-session-id': victim, PROMPTS_API_KEY: key })).status,
    ).toBe(202)
    expect(await readUntil(asked, '"id":7')).toContain('Write to ${who}')
    for (const stream of streams.slice(1)) await stream.body?.cancel()
  })
})
