import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readApi } from '../../src/web/api/api-routes.ts'
import { json, type TestApp, testApp } from '../support/test-app.ts'

const paths = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

describe('the API reference', () => {
  let service: TestApp
  let document: unknown
  let html = ''
  beforeAll(async () => {
    service = await testApp()
    document = await (await service.fetch('/api/openapi.json')).json()
    html = await (await service.fetch('/docs/api', { headers: { Accept: 'text/html' } })).text()
  })
  afterAll(() => service.close())

  it('shows every route of the OpenAPI document, in a group of its own kind', () => {
    const expected = Object.entries(paths.parse(document).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `<strong>${method.toUpperCase()}</strong> ${path}</p>`),
    )
    expect(expected.length).toBeGreaterThan(30)
    expect(expected.filter((line) => html.split(line).length !== 2)).toEqual([])
    // A route of a new kind wants a group.
    expect(readApi(document, '').groups.map(({ name }) => name)).toEqual([
      'prompts',
      'skills',
      'collections',
      'items',
      'names',
      'listings',
      'teams',
      'account',
      'channels',
      'embeds',
    ])
  })

  it('leads from its contents to every route, by the anchors that the headings of the document have', () => {
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const links = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links.filter((id) => !ids.includes(id))).toEqual([])
    expect(ids).toContain('post-apipromptsidfill')
    expect(ids).toContain('delete-apiskillsskillidfilesfilename')
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
