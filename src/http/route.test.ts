import { describe, expect, it } from 'vitest'
import { createRouter, firstSegments, type Route } from './route.ts'

const row = (method: Route['method'], path: string, kind: Route['kind'] = 'rest'): Route => ({ method, path, kind, cost: 1 })
const router = createRouter([
  row('GET', '/', 'page'),
  row('GET', '/prompts/{ref}.prompt.md', 'channel'),
  row('GET', '/prompts/{ref}', 'page'),
  row('POST', '/prompts/{ref}', 'page'),
  row('GET', '/static/{digest}/{name}', 'asset'),
  row('GET', '/e/{id}', 'embed'),
  row('POST', '/api/mcp', 'mcp'),
  row('GET', '/api/prompts/{id}'),
  row('PATCH', '/api/prompts/{id}'),
  row('GET', '/api/prompts/{id}/prompt.md', 'download'),
  row('DELETE', '/api/{collection}/{id}'),
  row('GET', '/api/skills/{skillId}/files/{filename}', 'download'),
])
const find = (method: string, path: string) => {
  const { kind, route, params, allowed } = router.find(method, path)
  return [route?.path ?? null, kind, { ...params }, allowed]
}

describe('find', () => {
  it.each([
    ['GET', '/', '/', 'page', {}],
    ['HEAD', '/prompts/a', '/prompts/{ref}', 'page', { ref: 'a' }],
    ['POST', '/api/mcp', '/api/mcp', 'mcp', {}],
    ['GET', '/api/prompts/a%20b', '/api/prompts/{id}', 'rest', { id: 'a b' }],
    ['GET', '/api/prompts/%E0%A4%A', '/api/prompts/{id}', 'rest', { id: '%E0%A4%A' }],
    ['DELETE', '/api/skills/x', '/api/{collection}/{id}', 'rest', { collection: 'skills', id: 'x' }],
    ['DELETE', '/api/prompts/x', '/api/{collection}/{id}', 'rest', { collection: 'prompts', id: 'x' }],
    ['GET', '/api/skills/s/files/a/b%2Fc.md', '/api/skills/{skillId}/files/{filename}', 'download', { skillId: 's', filename: 'a/b/c.md' }],
    ['GET', '/api/prompts/x/prompt.md', '/api/prompts/{id}/prompt.md', 'download', { id: 'x' }],
  ])('%s %s is %s', (method, path, route, kind, params) => {
    expect(find(method, path)).toEqual([route, kind, params, []])
  })

  it.each([
    ['PUT', '/api/prompts/x', 'rest', ['DELETE', 'GET', 'PATCH']],
    ['PUT', '/api/mcp', 'mcp', ['POST']],
    ['DELETE', '/prompts/x', 'page', ['GET', 'POST']],
  ])('names the methods %s %s could have had', (method, path, kind, allowed) => {
    expect(find(method, path)).toEqual([null, kind, {}, allowed])
  })

  it('knows the kind of an address where nothing is', () => {
    const paths = {
      rest: ['/api/nothing', '/api/prompts/x/promptxmd', '/api/others/x'],
      asset: ['/static/x'],
      embed: ['/e/x/y'],
      page: ['/nothing', '/prompts/x/y', '//'],
    }
    for (const [kind, all] of Object.entries(paths)) for (const path of all) expect(find('GET', path), path).toEqual([null, kind, {}, []])
  })
})

it('lists first segments', () => {
  expect(firstSegments(router.routes)).toEqual(['api', 'e', 'prompts', 'static'])
})
