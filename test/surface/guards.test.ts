import { afterAll, describe, expect, it } from 'vitest'
import { json, readJson, rpc, type TestApp, testApp } from '../support/test-app.ts'
import { visit } from '../support/visitor.ts'

const apps: TestApp[] = []
afterAll(() => Promise.all(apps.map((test) => test.close())))
/** One instance: several share a count of points only now and then, and each counts its own subscriptions. */
async function limited(perMinute: number) {
  const test = await testApp({ RATE_LIMITS: perMinute }, {}, null, { instances: 1 })
  apps.push(test)
  return test
}

describe('rate limits', () => {
  it('take a point more for each collection that a call names', async () => {
    const five = 'a,b,c,d,e'
    const collections = five.split(',')
    const call = rpc('tools/call', { name: 'search_prompts', arguments: { query: 'x', collections } })
    const asked: readonly [string, RequestInit | undefined, number][] = [
      ['/api/prompts', undefined, 3],
      [`/api/prompts?collections=${five}`, undefined, 8],
      [`/api/mcp?collections=${five}`, rpc('ping'), 1],
      [`/api/mcp?collections=${five}`, rpc('prompts/list'), 8],
      [`/api/mcp?collections=${five}`, { ...call, body: `[${rpc('resources/list').body}]` }, 10],
    ]
    for (const [path, options, points] of asked) {
      const test = await limited(points)
      expect([path, (await test.fetch(path, options)).status]).toEqual([path, 200])
      expect([path, (await test.fetch('/api/categories')).status]).toEqual([path, 429])
    }
  })

  it('refuse with 429, Retry-After and the shape of the surface, each caller for itself', async () => {
    const test = await limited(3)
    const { key } = await test.user('ada')
    for (let i = 0; i < 3; i++) expect((await test.fetch('/api/categories')).status).toBe(200)
    const refused = await test.fetch('/api/categories')
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0, (await readJson(refused)).error]).toEqual([
      429,
      true,
      'rate_limited',
    ])
    const overMcp = await test.fetch('/api/mcp', rpc('ping'))
    expect([overMcp.status, overMcp.headers.get('retry-after') !== null, (await readJson(overMcp)).error]).toEqual([
      429,
      true,
      { code: -32000, message: expect.stringContaining('3 per minute'), data: { code: 'rate_limited', requestId: expect.any(String) } },
    ])
    expect((await test.fetch('/api/categories', { key })).status).toBe(200)
    for (const path of ['/healthz', '/readyz']) expect((await test.fetch(path)).status).toBe(200)
  })

  it('count each message of a batch', async () => {
    const test = await limited(10)
    const batch = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: 8 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
    }
    expect((await test.fetch('/api/mcp', batch)).status).toBe(200)
    expect((await test.fetch('/api/mcp', batch)).status).toBe(429)
  })

  it('count bad keys for the address that sends them', async () => {
    const test = await limited(2)
    const headers = { 'X-API-Key': 'cpb_wrong' }
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await test.fetch('/api/categories', { headers })).status)
    expect(statuses).toEqual([401, 401, 429])
  })
})

describe('standing subscriptions', () => {
  it('are a number for each caller, and make room when they end', async () => {
    const test = await limited(10_000)
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { promptsListChanged: true }, _meta: meta },
    })
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    }
    const listen = (key?: string) => test.fetch('/api/mcp', { method: 'POST', headers, body, ...(key === undefined ? {} : { key }) })
    const open = await Promise.all(Array.from({ length: 50 }, () => listen()))
    expect(new Set(open.map((response) => `${response.status} ${response.headers.get('content-type')}`))).toEqual(
      new Set(['200 text/event-stream']),
    )
    const refused = await listen()
    expect([refused.status, (await readJson(refused)).error.data.code]).toEqual([429, 'rate_limited'])
    const { key } = await test.user('ada')
    const other = await listen(key)
    expect(other.headers.get('content-type')).toBe('text/event-stream')
    await open[0]?.body?.cancel()
    const again = await listen()
    expect(again.status).toBe(200)
    for (const response of [...open.slice(1), other, again]) await response.body?.cancel()
  })
})

describe('what is not there', () => {
  it('is a plain 404 for what asks nobody to sign in, so that no client drops its key', async () => {
    const test = await limited(1000)
    const response = await test.fetch('/.well-known/openid-configuration')
    expect([response.status, (await readJson(response)).error]).toEqual([404, 'not_found'])
    const bad = await test.fetch('/api/mcp', { ...rpc('ping'), headers: { 'content-type': 'application/json', PROMPTS_API_KEY: 'x' } })
    expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([400, null])
  })
})

it('a form is refused with a page that says so while its sender holds their share of memory', async () => {
  const test = await limited(1000)
  const { key } = await test.user('ada')
  const prompt = { title: 'Letter', content: 'For ${reason}', visibility: 'public' }
  expect((await test.fetch('/api/prompts', { ...json('POST', prompt), key })).status).toBe(201)
  const reader = visit(test)
  const apply = () => reader.post('/prompts/letter/fill', { 'v.reason': 'some lines\n'.repeat(800) })
  expect((await apply()).status).toBe(200)
  const held: ReadableStreamDefaultController<Uint8Array>[] = []
  const others = Array.from({ length: 4 }, () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(4 * 1024 * 1024 - 1024))
        held.push(controller)
      },
    })
    return test.fetch('/api/mcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' })
  })
  await expect.poll(async () => (await apply()).status).toBe(429)
  const { html } = await apply()
  expect(html).toMatch(/<h1[^>]*>Too many requests<\/h1>/)
  expect(html).toContain('You are sending too much at once. Wait for your other requests to finish.')
  for (const controller of held) controller.close()
  await Promise.all(others)
  expect((await apply()).status).toBe(200)
})
