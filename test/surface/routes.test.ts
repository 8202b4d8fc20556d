import { describe, expect, it } from 'vitest'
import { RESERVED_NAMES } from '../../src/domain/people/account.ts'
import { createRouter, firstSegments } from '../../src/http/route.ts'
import { readJson, useTestApp } from '../support/test-app.ts'

const test = useTestApp({ METRICS_TOKEN: 'a-token-for-the-tests' })

/** A path a row matches, with something in the place of each parameter. */
const PARTS: Readonly<Record<string, string>> = { collection: 'prompts', scope: '', git: '' }
const toPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PARTS[name] ?? 'nothing-here')

describe('the route table', () => {
  it('keeps the first segments of its paths from becoming names', () => {
    expect([...RESERVED_NAMES].toSorted()).toEqual(firstSegments(test.routes))
  })

  it('answers what only looks like a row as it answers all that is not there', async () => {
    const answer = await test.fetch('/api/skills/x/files/a%0Ab')
    expect([answer.status, (await readJson(answer)).error]).toEqual([404, 'not_found'])
  })

  it('has each method and path once', () => {
    const rows = test.routes.map(({ method, path }) => `${method} ${path}`)
    expect(rows.filter((row, place) => rows.indexOf(row) !== place)).toEqual([])
    expect(rows.length).toBeGreaterThan(100)
  })

  // The API of Langfuse has a definition of its own.
  it('describes all that is read below /api in OpenAPI', async () => {
    const { paths } = await readJson(await test.fetch('/api/openapi.json'))
    const rows = test.routes.filter(
      ({ path, kind }) => path.startsWith('/api/') && kind !== 'mcp' && kind !== 'langfuse' && path !== '/api/openapi.json',
    )
    const missing = rows.filter(({ method, path }) => paths[path]?.[method.toLowerCase()] === undefined)
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })

  it('has no row that its own path does not lead to', () => {
    const router = createRouter(test.routes)
    const unreachable = test.routes.filter((row) => router.find(row.method, toPath(row.path)).route !== row)
    expect(unreachable.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })

  it('answers every row with rights: nothing in it is unknown to what is mounted behind it', async () => {
    const { key } = await test.user('ada', ['read', 'write', 'improve'])
    for (const { method, path, kind } of test.routes) {
      // Without a session, GET and DELETE are refused before anything else.
      if (kind === 'mcp' && method !== 'POST') continue
      const headers = { accept: kind === 'page' ? 'text/html' : '*/*', 'content-type': 'application/json', origin: 'http://127.0.0.1:3000' }
      const response = await test.fetch(toPath(path), {
        method,
        headers,
        ...(kind !== 'page' && { key }),
        ...(method === 'GET' ? {} : { body: '{}' }),
      })
      const body = await response.text()
      expect(response.status, `${method} ${path}: ${body.slice(0, 200)}`).toBeLessThan(500)
      expect(response.status, `${method} ${path}`).not.toBe(405)
      expect(body, `${method} ${path}`).not.toContain('Nothing found at this address.')
    }
  })

  it.each(['PUT', 'DELETE', 'PATCH', 'POST', 'GET'])('refuses %s where a path has other methods, and names them', async (method) => {
    const router = createRouter(test.routes)
    const targets = [...new Set(test.routes.filter(({ kind }) => kind !== 'mcp').map(({ path }) => toPath(path)))]
    const refused = targets.filter((target) => router.find(method, target).route === null)
    for (const target of refused) {
      const response = await test.fetch(target, { method, headers: { origin: 'http://127.0.0.1:3000' } })
      expect([response.status, response.headers.get('allow')], target).toEqual([405, router.find(method, target).allowed.join(', ')])
    }
    expect(refused.length).toBeGreaterThan(method === 'GET' ? 5 : 50)
  })
})
