import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chooseCoding, createCompression } from '../../src/http/answers.ts'
import { toExchange } from '../support/exchange.ts'
import { json, type TestApp, testApp } from '../support/test-app.ts'

const TEXT = 'Write a letter about the weather. '.repeat(200)

describe('compression', () => {
  let service: TestApp
  let key = ''
  let id = ''
  beforeAll(async () => {
    service = await testApp({ METRICS_TOKEN: 'a-token-for-the-tests' })
    key = (await service.user('Ada')).key
    const answer = await service.fetch('/api/prompts', { ...json('POST', { title: 'Letter', content: TEXT, visibility: 'public' }), key })
    id = JSON.parse(await answer.text()).prompt.id
  })
  afterAll(() => service.close())

  const get = async (path: string, coding: string | null, headers: Record<string, string> = {}) => {
    const answer = await service.fetch(path, { headers: { ...headers, ...(coding === null ? {} : { 'Accept-Encoding': coding }) } })
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
  }

  it('gives pages, JSON, texts and the files of pages in the coding that the client takes, and tells caches', async () => {
    const html = (await get('/', null, { Accept: 'text/html' })).bytes.toString()
    const css = /href="(\/static\/[^"]+\.css)"/.exec(html)?.[1] ?? ''
    for (const path of ['/prompts', `/api/prompts/${id}`, '/api/prompts?q=letter', `/api/prompts/${id}/raw`, '/api/openapi.json', css]) {
      const headers = path === '/prompts' ? { Accept: 'text/html' } : { Accept: '*/*' }
      const plain = await get(path, null, headers)
      expect([plain.answer.status, plain.answer.headers.get('content-encoding')], path).toEqual([200, null])
      expect(plain.answer.headers.get('vary'), path).toContain('Accept-Encoding')
      const gzip = await get(path, 'gzip', headers)
      expect([gzip.answer.headers.get('content-encoding'), gunzipSync(gzip.bytes).equals(plain.bytes)], path).toEqual(['gzip', true])
      expect(gzip.answer.headers.get('vary'), path).toContain('Accept-Encoding')
      expect(gzip.bytes.length, path).toBeLessThan(plain.bytes.length / 2)
      const brotli = await get(path, 'gzip;q=0, br', headers)
      expect([brotli.answer.headers.get('content-encoding'), brotliDecompressSync(brotli.bytes).equals(plain.bytes)], path).toEqual([
        'br',
        true,
      ])
      const none = await get(path, 'identity, gzip;q=0', headers)
      expect([none.answer.headers.get('content-encoding'), none.bytes.equals(plain.bytes)], path).toEqual([null, true])
    }
  })

  it('keeps what is for one reader, small, compressed already, or no text as it is', async () => {
    const font = /href="(\/static\/[^"]+\.woff2)"/.exec((await get('/', null, { Accept: 'text/html' })).bytes.toString())?.[1] ?? ''
    for (const [path, headers] of [
      [`/api/prompts/${id}`, { 'X-API-Key': key }],
      ['/healthz', {}],
      ['/api/prompts/nothing-here', {}],
      [font, {}],
    ] as const) {
      const { answer } = await get(path, 'gzip, br', headers)
      expect(answer.headers.get('content-encoding'), path).toBeNull()
    }
    const compress = createCompression()
    const exchange = toExchange(new Request('http://127.0.0.1/', { headers: { 'Accept-Encoding': 'gzip' } }))
    for (const headers of [
      { 'content-type': 'text/event-stream; charset=utf-8' },
      { 'content-type': 'text/html', 'cache-control': 'private, no-store' },
      { 'content-type': 'text/html', 'content-encoding': 'zstd' },
      { 'content-type': 'application/zip' },
    ]) {
      const answer = { status: 200, headers, body: TEXT }
      expect(await compress(exchange, answer)).toBe(answer)
    }
    const answer = await service.fetch('/api/improve-prompt', {
      ...json('POST', { prompt: 'Write a letter' }),
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', 'Accept-Encoding': 'gzip' },
      key,
    })
    expect([answer.headers.get('content-type'), answer.headers.get('content-encoding')]).toEqual(['text/event-stream; charset=utf-8', null])
    expect(await answer.text()).toContain('event: result')
  })

  it('names the compressed text by a weak ETag, which is answered with 304', async () => {
    const path = `/api/prompts/${id}`
    const strong = (await get(path, null)).answer.headers.get('etag') ?? ''
    expect(strong).toMatch(/^"/)
    for (let count = 0; count < 2; count++) {
      const { answer, bytes } = await get(path, 'gzip')
      expect([answer.headers.get('etag'), gunzipSync(bytes).toString().includes(TEXT)]).toEqual([`W/${strong}`, true])
    }
    for (const tag of [strong, `W/${strong}`]) {
      const { answer, bytes } = await get(path, 'gzip', { 'If-None-Match': tag })
      expect([answer.status, bytes.length, answer.headers.get('etag')]).toEqual([304, 0, `W/${strong}`])
      expect([answer.headers.get('content-encoding'), answer.headers.get('vary')?.includes('Accept-Encoding')]).toEqual([null, true])
    }
    const changed = await service.fetch(path, { ...json('PATCH', { content: `${TEXT} New.` }), key })
    expect(changed.status).toBe(200)
    expect(gunzipSync((await get(path, 'gzip')).bytes).toString()).toContain('New.')
  })

  it('is chosen by what the client takes', async () => {
    for (const [header, coding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['BR;q=0.1', 'br'],
      ['br;q=0, *', 'gzip'],
      ['*;q=0', null],
      ['identity', null],
      // A weight that is no number counts as 1, as it does in Accept.
      ['gzip;q=nonsense', 'gzip'],
      ['', null],
      [null, null],
    ] as const) {
      expect(chooseCoding(header, ['br', 'gzip'])).toBe(coding)
    }
  })
})
