import { expect, it } from 'vitest'
import { makeExample, type RouteInput, writeCurl } from './example-request.ts'

const BASE = 'https://prompts.example.org'
const input = (name: string, place: RouteInput['in'], schema: RouteInput['schema'], required = true): RouteInput => ({
  name,
  in: place,
  required,
  schema,
})

it('fills in the path and what a query needs', () => {
  const inputs = [
    input('id', 'path', { type: 'string' }),
    input('version', 'path', { type: 'integer', minimum: 1 }),
    input('query', 'query', { type: 'string' }),
    input('limit', 'query', { type: 'integer' }, false),
  ]
  const { path, body } = makeExample('/api/things/{id}/{version}', inputs, null, BASE)
  expect([path, body]).toEqual(['/api/things/ID_OR_SLUG/1?query=code+review', null])
})

it('gives a body what it must have, and what shows most', () => {
  const body = {
    properties: { kind: { enum: ['x', 'y'] }, all: { type: 'boolean' }, title: { type: 'string' }, note: { type: 'string' } },
    required: ['kind', 'all'],
  }
  expect(makeExample('/api/things', [], body, BASE).body).toEqual({ kind: 'x', all: true, title: 'Daily summary' })
})

it('writes commands that a shell reads as they are meant', () => {
  const about = { baseUrl: BASE, hasKey: false, isFile: false }
  expect(writeCurl('GET', { path: '/api/a', body: null }, about)).toBe(`curl ${BASE}/api/a`)
  expect(writeCurl('GET', { path: '/api/a?q=1', body: null }, { ...about, isFile: true })).toBe(`curl '${BASE}/api/a?q=1' -OJ`)
  expect(writeCurl('DELETE', { path: '/api/a', body: null }, { ...about, hasKey: true })).toBe(
    `curl -X DELETE ${BASE}/api/a -H "X-API-Key: $KEY"`,
  )
  expect(writeCurl('POST', { path: '/api/a', body: { text: "it's ${x}" } }, about)).toBe(
    `curl ${BASE}/api/a \\\n  -H 'Content-Type: application/json' \\\n  -d '{"text":"it'\\''s \${x}"}'`,
  )
})
