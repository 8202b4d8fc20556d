import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readApi } from '../../src/web/api-reference.ts'
import { json, type TestApp, testApp } from '../support/test-app.ts'

const paths = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

describe('the API reference', () => {
  let service: TestApp
  let document: unknown
  let pages: string[] = []
  let html = ''
  const read = async (part: string) => await (await service.fetch(`/docs/api${part}`, { headers: { Accept: 'text/html' } })).text()
  beforeAll(async () => {
    service = await testApp()
    document = await (await service.fetch('/api/openapi.json')).json()
    const groups = readApi(document, '').groups.map(({ name }) => name)
    pages = await Promise.all(['', ...groups.map((name) => `/${name}`)].map(read))
    html = pages.slice(1).join('')
  })
  afterAll(() => service.close())

  it('shows every route of the OpenAPI document, in a group of its own kind', () => {
    const expected = Object.entries(paths.parse(document).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `<strong>${method.toUpperCase()}</strong> ${path}</p>`),
    )
    expect(expected.length).toBeGreaterThan(30)
    expect(expected.filter((line) => html.split(line).length !== 2)).toEqual([])
    // A route of a new kind wants a group.
    expect(readApi(document, '').groups.map(({ name }) => name)).toEqual(
      'prompts skills collections items names listings checks teams account channels embeds'.split(' '),
    )
  })

  it('leads from its first page to every route, by the anchors that the headings of the document have', () => {
    const [first = ''] = pages
    const idsOf = (page: string) => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    const links = [...first.matchAll(/ href="\/docs\/api\/([a-z]+)#([^"]+)"/g)].map(([, , id = '']) => id)
    expect(links.length).toBeGreaterThan(30)
    expect(links.filter((id) => !idsOf(first).includes(id) || !idsOf(html).includes(id))).toEqual([])
    expect(links).toContain('post-apipromptsidfill')
    expect(links).toContain('delete-apiskillsskillidfilesfilename')
  })

  it('has pages of at most 60 KB as they are sent, and 404 for another group', async () => {
    const sizes = pages.map((page) => brotliCompressSync(page).length)
    expect(Math.max(...sizes)).toBeLessThan(60 * 1024)
    expect((await service.fetch('/docs/api/nothing', { headers: { Accept: 'text/html' } })).status).toBe(404)
  })

  it('says which scope a route needs, and in which fields it answers', () => {
    const [, section = ''] = html.split('<h3 id="post-apiprompts">')
    const text = section.slice(0, section.indexOf('</section>')).replaceAll('<wbr/>', '')
    expect(text).toContain('Needs a key with the “write” scope.')
    expect(text).toMatch(/<code>content<\/code><\/th><td><span class="quiet">string · required · 1 to 200000 characters</)
    expect(text).toContain('<code>prompt.slug</code>')
    expect(text).toContain('curl http://127.0.0.1:3000/api/prompts -H &quot;X-API-Key: $KEY&quot;')
  })

  it('gives examples that the service understands', async () => {
    const { key } = await service.user('ada')
    const routes = readApi(document, 'http://127.0.0.1:3000').groups.flatMap((group) => group.routes)
    const refused: string[] = []
    for (const { method, example, answers } of routes) {
      const answer = await service.fetch(example.path, { key, ...(example.body === null ? { method } : json(method, example.body)) })
      const isOk = answers.some(({ status }) => status === String(answer.status))
      // What stands in capitals is for the reader to put in.
      const isPlaceholder = answer.status === 404 && /[A-Z]{2}/.test(example.path + JSON.stringify(example.body))
      if (!isOk && !isPlaceholder) refused.push(`${method} ${example.path}: ${answer.status} ${await answer.text()}`)
    }
    expect(refused).toEqual([])
  })
})
