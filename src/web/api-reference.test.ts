import { expect, it } from 'vitest'
import { listFields, makeExample, type RouteInput, writeCurl } from './api-reference.ts'
import { ENGLISH } from './strings/index.ts'

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

it('lists the fields of a schema, each followed by those in it', () => {
  const file = { type: 'object', properties: { filename: { type: 'string' }, encoding: { const: 'base64' } }, required: ['filename'] }
  const fields = listFields(
    {
      type: 'object',
      required: ['files'],
      properties: {
        files: { type: 'array', items: file, maxItems: 3, description: 'All files' },
        old: { anyOf: [{ type: 'array', items: file }, { type: 'null' }] },
      },
    },
    ENGLISH.api,
  )
  expect(fields.map(({ name, kind, choices, isRequired, bounds }) => [name, kind, choices, isRequired, bounds])).toEqual([
    ['files', 'list of object', [], true, 'at most 3'],
    ['files[].filename', 'string', [], true, ''],
    ['files[].encoding', '', ['base64'], false, ''],
    ['old', 'list of object or null', [], false, ''],
    ['old[].filename', 'string', [], true, ''],
    ['old[].encoding', '', ['base64'], false, ''],
  ])
  expect(fields[0]?.description).toBe('All files')
})

it('says kinds, choices and limits in words', () => {
  const say = (schema: object) => {
    const [field] = listFields({ properties: { one: schema } }, ENGLISH.api)
    return [field?.kind, field?.choices, field?.bounds]
  }
  expect(say({ type: 'integer', minimum: 1, maximum: 50, default: 10 })).toEqual(['integer', [], '1 to 50, default 10'])
  expect(say({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).toEqual(['integer', [], 'from 1'])
  expect(say({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: 9 })).toEqual(['integer', [], 'at most 9'])
  expect(say({ type: 'string', maxLength: 200, default: '' })).toEqual(['string', [], '0 to 200 characters'])
  expect(say({ type: ['string', 'null'], format: 'date-time' })).toEqual(['string or null (date-time)', [], ''])
  expect(say({ anyOf: [{ type: 'string', enum: ['A', 'B'] }, { type: 'null' }] })).toEqual(['', ['A', 'B', 'null'], ''])
})
