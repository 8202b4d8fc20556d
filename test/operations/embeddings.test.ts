import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTextEmbedder } from '../../src/ai/remote-encoder.ts'
import { type ModelServer, startModelServer } from '../support/model-server.ts'
import { readJson, testApp } from '../support/test-app.ts'

/** Talking to a provider of embeddings that behaves in every way one may. */

const SECRET = 'sk-very-secret-key'
/** Metrics and what /readyz says of the provider are of one process. */
const ALONE = { instances: 1 } as const
const TEXTS = ['a walrus', 'two cats', 'three cars']

let models: ModelServer
beforeAll(async () => {
  models = await startModelServer()
})
afterAll(() => models.stop())

const embed = (model: string, texts: readonly string[] = TEXTS, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  createTextEmbedder({ url: models.baseUrl, model, key: SECRET }).embed(texts, {
    purpose: 'item',
    timeoutMs: 5000,
    signal: new AbortController().signal,
    ...options,
  })

describe('the embedder', () => {
  it.each([
    ['broken', 'upstream_failed', /^The embedding model broken returned 500\.$/],
    ['bad-key', 'upstream_failed', /returned 401 \(the key was rejected\)/],
    ['nonsense', 'upstream_failed', /returned 404 \(unknown model or address\)/],
    ['elsewhere', 'upstream_failed', /returned 307 \(redirects are not followed\)/],
    ['garbage', 'upstream_failed', /unreadable response/],
    ['strings', 'upstream_failed', /unreadable response/],
    ['zeros', 'upstream_failed', /unreadable response/],
    ['same-index', 'upstream_failed', /unreadable response/],
    ['uneven-dims', 'upstream_failed', /unreadable response/],
    ['too-many-dims', 'upstream_failed', /unreadable response/],
    ['one-too-few', 'upstream_failed', /returned 2 vectors for 3 texts/],
    ['huge', 'upstream_failed', /sent more than \d+ bytes/],
    ['never', 'upstream_failed', /did not answer within 1\.2 seconds/],
    ['refuses-all', 'invalid_input', /rejected the text \(400\)/],
  ])('fails on %s with %s, and says neither text nor key', async (model, code, message) => {
    const error = await embed(model, TEXTS, { timeoutMs: model === 'huge' ? 20_000 : 1200 }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    const { message: text = '', cause } = Object(error)
    for (const hidden of [SECRET, 'walrus', 'cats']) expect(text).not.toContain(hidden)
    expect(cause).toBeUndefined()
  })
})

describe('an application with a provider', () => {
  it('embeds nothing unless a server is started: a command only asks about its queries', async () => {
    const test = await testApp({}, {}, { url: models.baseUrl, model: 'normal:command', key: null })
    const { actor } = await test.user('ada')
    await test.call(actor, 'save_prompt', { title: 'Cats', content: 'All about cats', isPrivate: false })
    expect((await test.call(actor, 'search_prompts', { query: 'cats' }))['count']).toBe(1)
    expect((await models.embeddings('normal:command')).map((entry) => entry.input)).toEqual([['cats']])
    await test.close()
  })
})

describe('items that are not sent', () => {
  it('are found by their owner as they are without a provider, and by nobody else', async () => {
    const test = await testApp({}, {}, { url: models.baseUrl, model: 'normal:own', key: null })
    const { actor } = await test.user('ada')
    const other = await test.user('ben')
    for (let n = 0; n < 40; n++) await test.call(actor, 'save_prompt', { title: `Number ${n}`, content: `Subject${n}`, isPrivate: false })
    await test.call(actor, 'save_prompt', { title: 'Soccer training', content: 'Drills for the team', isPrivate: true })
    await test.app.itemEncoding?.encodeAll({ onSaved: () => {}, onFailed: () => {} })
    const titles = async (who: typeof actor, query: string) => {
      const { prompts } = await test.call(who, 'search_prompts', { query })
      return z
        .array(z.object({ title: z.string() }))
        .parse(prompts)
        .map((prompt) => prompt.title)
    }
    // The provider knows nothing of the two being one; general English does.
    for (const query of ['soccer', 'football']) {
      expect((await titles(actor, query))[0], query).toBe('Soccer training')
      expect(await titles(other.actor, query)).not.toContain('Soccer training')
    }
    expect((await models.embeddings('normal:own')).flatMap((entry) => entry.input).join()).not.toMatch(/Drills/)
    await test.close()
  })
})

describe('metrics', () => {
  const TOKEN = 'a-token-of-some-length'
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}`, host: '10.0.0.7:3000' } })

  it('are not there without the setting', async () => {
    const test = await testApp()
    for (const options of [{}, bearer(''), bearer(TOKEN)]) expect((await test.fetch('/metrics', options)).status).toBe(404)
    await test.close()
  })

  it('want the token, and no other', async () => {
    const test = await testApp({ METRICS_TOKEN: TOKEN })
    for (const options of [
      {},
      bearer(''),
      bearer(`${TOKEN}x`),
      bearer(TOKEN.slice(1)),
      bearer(TOKEN.toUpperCase()),
      { headers: { authorization: TOKEN } },
    ]) {
      const response = await test.fetch('/metrics', options)
      expect([response.status, (await readJson(response)).error]).toEqual([401, 'unauthenticated'])
    }
    const { key } = await test.user('ada')
    expect((await test.fetch('/metrics', bearer(key))).status).toBe(401)
    const post = await test.fetch('/metrics', { method: 'POST', ...bearer(TOKEN) })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET'])
    const response = await test.fetch('/metrics', bearer(TOKEN))
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'private, no-store',
    ])
    expect(await response.text()).not.toContain(TOKEN)
    await test.close()
  })

  it('count requests by kind of address and status, and name no path', async () => {
    const test = await testApp({ METRICS_TOKEN: TOKEN }, {}, null, ALONE)
    for (const path of ['/api/prompts', '/api/prompts', '/api/prompts/no-such-secret', '/nowhere', '/healthz']) await test.fetch(path)
    await test.fetch('/api/mcp')
    const text = await (await test.fetch('/metrics', bearer(TOKEN))).text()
    const lines = text.split('\n').filter((line) => line.startsWith('commonplace_http_requests_total'))
    expect(lines.toSorted()).toEqual([
      'commonplace_http_requests_total{route="mcp",status="405"} 1',
      'commonplace_http_requests_total{route="other",status="404"} 1',
      'commonplace_http_requests_total{route="probe",status="200"} 1',
      'commonplace_http_requests_total{route="rest",status="200"} 2',
      'commonplace_http_requests_total{route="rest",status="404"} 1',
    ])
    expect(text).toContain('process_cpu_seconds_total')
    const durations = text
      .split('\n')
      .filter((line) => line.startsWith('commonplace_http_request_duration_seconds') && line.includes('route="rest"'))
    expect(durations).toContain('commonplace_http_request_duration_seconds_count{route="rest"} 3')
    expect(text).toContain('# TYPE commonplace_http_request_duration_seconds histogram')
    expect(durations).toContain('commonplace_http_request_duration_seconds_bucket{le="+Inf",route="rest"} 3')
    const within = durations.filter((line) => line.includes('_bucket')).map((line) => Number(line.split(' ')[1]))
    expect(within).toEqual(within.toSorted((a, b) => a - b))
    expect(Number(durations.find((line) => line.includes('_sum'))?.split(' ')[1])).toBeGreaterThan(0)
    expect(text).not.toContain('secret')
    // Read, not added up again.
    const again = await (await test.fetch('/metrics', bearer(TOKEN))).text()
    expect(again).toContain('commonplace_http_requests_total{route="rest",status="200"} 2\n')
    expect(again).not.toContain('commonplace_embeddings')
    await test.close()
  })
})
