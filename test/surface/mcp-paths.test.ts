import { beforeAll, describe, expect, it } from 'vitest'
import { filterLines } from '../../src/mcp/stdio.ts'
import { readJson, useTestApp } from '../support/test-app.ts'

/** Refusals on the ways that the SDK's own server answers: the 2026 revision, sessions, and stdio. */

const test = useTestApp()
beforeAll(async () => {
  const { actor } = await test.user('ada')
  await test.call(actor, 'save_prompt', { title: 'Blanks', content: 'Write ${topic}', visibility: 'public' })
})

const SCHEMA_WORDS = /Invalid input|expected \w+, received|Unrecognized|"expected"/
const ROWS: readonly (readonly [method: string, params: Record<string, unknown>, code: number, name: string, sentence: RegExp])[] = [
  ['tools/call', { name: 5 }, -32602, 'invalid_input', /params\.name must be a string/],
  ['prompts/get', { name: 'x', arguments: { a: 1 } }, -32602, 'invalid_input', /params\.arguments\.a must be a string/],
  ['completion/complete', {}, -32602, 'invalid_input', /params\.\w+ is (required|not valid)/],
  ['resources/read', {}, -32602, 'invalid_input', /params\.uri is required/],
  ['skills/list', { cursor: 5 }, -32602, 'invalid_input', /cursor must be a string/],
  ['nonsense', {}, -32601, 'not_found', /nonsense/],
]
const lastEvent = (text: string) => JSON.parse(text.startsWith('{') ? text : (text.match(/^data: (\{.*)$/gm)?.at(-1) ?? '').slice(6))

it.each(ROWS)('the 2026 revision refuses %s %j in our own words', async (method, params, code, name, sentence) => {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 3, method, params: { ...params, _meta: envelope } })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}),
  }
  const { id, error } = lastEvent(await (await test.fetch('/api/mcp', { method: 'POST', body, headers })).text())
  expect([id, error.code, error.data.code]).toEqual([3, code, name])
  expect(error.message).toMatch(sentence)
  expect(JSON.stringify(error)).not.toMatch(SCHEMA_WORDS)
})

describe('a session whose client can ask', () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const open = async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo: { name: 'x', version: '1' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    const opened = await test.fetch('/api/mcp', { method: 'POST', body, headers })
    await opened.text()
    return { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  }
  const send = (message: object, to: Record<string, string>) =>
    test.fetch('/api/mcp', { method: 'POST', headers: to, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })

  it.each([
    [{ arguments: {} }, /params\.name is required/],
    [{ name: 'blanks', arguments: { a: 5 } }, /params\.arguments\.a must be a string/],
  ])('prompts/get %j is refused in our own words', async (params, sentence) => {
    const to = await open()
    const { error } = lastEvent(await (await send({ id: 5, method: 'prompts/get', params }, to)).text())
    expect([error.code, error.data.code]).toEqual([-32602, 'invalid_input'])
    expect(error.message).toMatch(sentence)
    expect(JSON.stringify(error)).not.toMatch(SCHEMA_WORDS)
  })

  it.each([
    { result: null },
    { result: 5 },
    { error: {} },
    { error: 'no' },
    { result: { action: 'accept', content: { topic: 'x'.repeat(20_000) } } },
  ])('that answers a question with %j gets the raw text', async (response) => {
    const to = await open()
    const answer = await send({ id: 6, method: 'tools/call', params: { name: 'get_prompt', arguments: { id: 'blanks' } } }, to)
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const readUntil = async (pattern: RegExp) => {
      while (!pattern.test(text)) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: '' }
        if (done) return
        text += value
      }
    }
    await readUntil(/elicitation\/create.*\n\n/)
    const { id } = lastEvent(text.trimEnd())
    expect((await send({ id, ...response }, to)).status).toBe(202)
    await readUntil(/"id":6/)
    const { result } = lastEvent(text.trimEnd())
    expect([result.isError, result.structuredContent.content]).toEqual([undefined, 'Write ${topic}'])
  })
})

describe('a line over stdio', () => {
  const pass = async (lines: string) => {
    const answers: { id: unknown; error: { code: number; message: string; data: { code: string } } }[] = []
    const filter = filterLines((line) => answers.push(JSON.parse(line)))
    filter.end(lines)
    const passed = Buffer.concat(await Array.fromAsync(filter)).toString('utf8')
    return { answers, passed: passed.split('\n').filter((line) => line !== '') }
  }

  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}', 1, -32600, /params must be an object/],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', 1, -32600, /params must be an object/],
    ['{"jsonrpc":"2.0","id":1}', 1, -32600, /method is required/],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 1, -32600, /jsonrpc must be "2.0"/],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 1, -32600, /method must be a string/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 1.5, -32600, /must be a string or an integer/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":5}}', 1, -32602, /params\._meta must be an object/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":{}}}}', 1, -32602, /progressToken must be/],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null, -32600, /Batches are not supported/],
    ['{"jsonrpc":', null, -32700, /not JSON/],
  ])('%s is answered', async (line, id, code, sentence) => {
    const { answers, passed } = await pass(`${line}\n`)
    expect(passed).toEqual([])
    expect(answers).toEqual([
      { jsonrpc: '2.0', id, error: { code, message: expect.stringMatching(sentence), data: { code: 'invalid_input' } } },
    ])
  })

  it('goes on without members nobody knows, however it is cut, the last one without an end', async () => {
    const { answers, passed } = await pass(
      '{"jsonrpc":"2.0","id":1,"method":"ping","foo":1}\r\n\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":9,"result":null}',
    )
    expect(answers).toEqual([])
    expect(passed.map((line) => JSON.parse(line))).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 9, error: { code: -32603, message: 'The response is not valid.' } },
    ])
  })
})

it('refuses a bad _meta by name over plain HTTP as well', async () => {
  const ask = async (meta: unknown) => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search_prompts', arguments: { query: '' }, _meta: meta },
    })
    return (await readJson(await test.fetch('/api/mcp', { method: 'POST', body, headers: { 'content-type': 'application/json' } }))).error
      .message
  }
  expect(await ask(5)).toBe('params._meta must be an object.')
  expect(await ask({ progressToken: {} })).toBe('params._meta.progressToken must be a string or an integer.')
})
