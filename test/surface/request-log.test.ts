import { beforeAll, beforeEach, expect, it } from 'vitest'
import { json, rpc, useTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor } from '../support/visitor.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Stands in everything a caller writes beside the path. */
const MARK = 'walrus'

const lines: string[] = []
const test = useTestApp({ RATE_LIMITS: 1000 }, {}, null, {}, { write: (line) => lines.push(line) })
let key: string
let keyId: string
let ada: Visitor
let adaId: string
beforeAll(async () => {
  ada = await signUp(test, 'ada')
  adaId = (await test.app.store.people.findPersonByName('ada'))?.id ?? ''
  const bob = await test.user('bob')
  key = bob.key
  keyId = bob.actor.keyId ?? ''
})
beforeEach(() => {
  lines.length = 0
})

/** The only line there is, without what differs from time to time. */
function theLine(): unknown {
  expect(lines.length, lines.join('')).toBe(1)
  const { time, requestId, ms, ...rest } = JSON.parse(lines[0] ?? '')
  expect([typeof time, Number.isInteger(ms) && ms >= 0]).toEqual(['number', true])
  expect(requestId).toMatch(UUID)
  return rest
}
const line = (method: string, path: string, status: number, caller: string, more: object = {}) => ({
  level: 30,
  method,
  path,
  status,
  client: '',
  caller,
  ...more,
})
const tool = (name: string, input: object) => rpc('tools/call', { name, arguments: input })

it('has a line for each request: what was asked, who asked, and what came of it', async () => {
  const rows: readonly (readonly [() => Promise<unknown>, object])[] = [
    [() => test.fetch(`/api/search/prompts?query=${MARK}`), line('GET', '/api/search/prompts', 200, 'anonymous')],
    [() => test.fetch(`/api/prompts?q=${MARK}`, { key }), line('GET', '/api/prompts', 200, `key ${keyId}`)],
    [
      () => test.fetch('/api/prompts', { ...json('POST', { title: MARK, content: MARK }), key }),
      line('POST', '/api/prompts', 201, `key ${keyId}`),
    ],
    [() => test.fetch('/api/prompts', { ...json('POST', { title: MARK }), key }), line('POST', '/api/prompts', 400, `key ${keyId}`)],
    [() => test.fetch('/api/prompts', { key: `cpb_${MARK}` }), line('GET', '/api/prompts', 401, 'anonymous')],
    [() => test.fetch('/api/prompts', { method: 'OPTIONS' }), line('OPTIONS', '/api/prompts', 204, 'anonymous')],
    [() => test.fetch(`/?${MARK}`, { headers: { host: `${MARK}.example` } }), line('GET', '/', 403, 'anonymous')],
    [() => ada.get(`/prompts?q=${MARK}`), line('GET', '/prompts', 200, `person ${adaId}`)],
    [() => ada.post('/new', { title: MARK, content: MARK }), line('POST', '/new', 303, `person ${adaId}`)],
    [() => ada.post('/sign-in', { name: MARK, password: PASSWORD }), line('POST', '/sign-in', 401, `person ${adaId}`)],
    [() => ada.get(`/reset-password?token=${MARK}`), line('GET', '/reset-password', 200, `person ${adaId}`)],
    [
      () => test.fetch('/api/mcp', { ...tool('search_prompts', { query: MARK }), key }),
      line('POST', '/api/mcp', 200, `key ${keyId}`, { operations: ['search_prompts'] }),
    ],
    [() => test.fetch('/api/mcp', tool(MARK, {})), line('POST', '/api/mcp', 200, 'anonymous')],
    [() => test.fetch('/api/mcp', rpc(`${MARK}/list`)), line('POST', '/api/mcp', 200, 'anonymous')],
    [() => test.fetch('/api/mcp', { ...json('POST', {}), body: MARK }), line('POST', '/api/mcp', 400, 'anonymous')],
  ]
  for (const [ask, expected] of rows) {
    lines.length = 0
    await ask()
    expect(theLine()).toEqual(expected)
    for (const hidden of [MARK, key, PASSWORD, ...ada.cookies().split(/[=;] ?/)]) expect(lines[0]).not.toContain(hidden)
  }
})

it('names what MCP called in a batch once each', async () => {
  const call = (id: number, name: string, input: object) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: input },
  })
  const batch = [
    call(1, 'search_prompts', { query: MARK }),
    call(2, 'search_prompts', { query: MARK }),
    call(3, 'search_skills', { query: MARK }),
  ]
  await test.fetch('/api/mcp', { ...json('POST', batch), key })
  expect(theLine()).toEqual(line('POST', '/api/mcp', 200, `key ${keyId}`, { operations: ['search_prompts', 'search_skills'] }))
})
