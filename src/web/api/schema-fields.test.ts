import { expect, it } from 'vitest'
import { API_WORDS } from '../strings/documents.ts'
import { listFields } from './schema-fields.ts'

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
    API_WORDS,
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
    const [field] = listFields({ properties: { one: schema } }, API_WORDS)
    return [field?.kind, field?.choices, field?.bounds]
  }
  expect(say({ type: 'integer', minimum: 1, maximum: 50, default: 10 })).toEqual(['integer', [], '1 to 50, default 10'])
  expect(say({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).toEqual(['integer', [], 'from 1'])
  expect(say({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: 9 })).toEqual(['integer', [], 'at most 9'])
  expect(say({ type: 'string', maxLength: 200, default: '' })).toEqual(['string', [], '0 to 200 characters'])
  expect(say({ type: ['string', 'null'], format: 'date-time' })).toEqual(['string or null (date-time)', [], ''])
  expect(say({ anyOf: [{ type: 'string', enum: ['A', 'B'] }, { type: 'null' }] })).toEqual(['', ['A', 'B', 'null'], ''])
})
