import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { OPERATIONS } from '../index.ts'
import { searchPrompts } from '../items/search-items.ts'
import { defineOperation } from './define-operation.ts'
import { coerceText, describeInputs } from './describe-inputs.ts'

function describeSchema(input: z.ZodObject) {
  return describeInputs(
    defineOperation({
      ...{ name: 'try', title: 'Try', summary: 'For this test.', scope: null, surfaces: {} },
      ...{ input, output: z.object({}), run: async () => ({}) },
    }),
  )
}

describe('describeInputs', () => {
  it.each([
    ['text', z.string()],
    ['text', z.string().nullable()],
    ['text', z.enum(['a', 'b'])],
    ['text', z.string().min(1).default('x')],
    ['number', z.number()],
    ['number', z.number().int().min(1).max(50).default(10)],
    ['number', z.number().nullable()],
    ['boolean', z.boolean()],
    ['boolean', z.boolean().optional()],
    ['list', z.array(z.string())],
    ['list', z.array(z.string()).max(50).optional()],
    ['json', z.array(z.object({ a: z.string() }))],
    ['json', z.object({ a: z.string() })],
    ['json', z.record(z.string(), z.string())],
  ])('sees %s (%#)', (kind, schema) => {
    expect(describeSchema(z.object({ it: schema }))[0]?.kind).toBe(kind)
  })

  it('tells what is required, what there is to choose from, and what it means, in the order of definition', () => {
    const input = z.object({ b: z.string().describe('The first'), a: z.enum(['x', 'y']).optional(), c: z.number().default(1) })
    expect(describeSchema(input)).toMatchObject([
      { name: 'b', kind: 'text', description: 'The first', choices: null, isRequired: true },
      { name: 'a', kind: 'text', description: '', choices: ['x', 'y'], isRequired: false },
      { name: 'c', kind: 'number', description: '', choices: null, isRequired: false },
    ])
  })

  it.each([
    ['1 to 50, default 10', z.number().int().min(1).max(50).default(10)],
    ['default x', z.string().default('x')],
    ['at most 3', z.array(z.string()).max(3)],
    ['', z.string()],
  ])('puts its bounds in words: "%s"', (bounds, schema) => {
    expect(describeSchema(z.object({ it: schema }))[0]?.bounds).toBe(bounds)
  })

  it('describes search_prompts as the interface does', () => {
    const inputs = new Map(describeInputs(searchPrompts).map((input) => [input.name, input]))
    expect([...inputs.keys()]).toEqual(['query', 'limit', 'type', 'category', 'tag', 'collections', 'maxCharacters'])
    expect([...inputs.values()].filter((input) => input.isRequired).map((input) => input.name)).toEqual(['query'])
    expect(inputs.get('limit')?.kind).toBe('number')
    expect(inputs.get('type')?.choices).toEqual(['TEXT', 'STRUCTURED', 'IMAGE', 'VIDEO', 'AUDIO'])
  })

  it('describes every operation that is offered by REST or on the command line, and every name in a path is one of its inputs', () => {
    const offered = OPERATIONS.filter(({ surfaces }) => surfaces.rest || surfaces.cli)
    expect(offered.length).toBeGreaterThan(20)
    for (const operation of offered) {
      const names = describeInputs(operation).map((input) => input.name)
      for (const [, name] of operation.surfaces.rest?.path.matchAll(/\{(\w+)\}/g) ?? []) expect(names).toContain(name)
      for (const name of operation.surfaces.cli?.positional ?? []) expect(names).toContain(name)
    }
  })
})

describe('coerceText', () => {
  it('reads numbers and truth, and leaves what is neither for the schema to refuse', () => {
    expect(['12', '-3', '1.5'].map((text) => coerceText(text, 'number'))).toEqual([12, -3, 1.5])
    expect(['true', 'false'].map((text) => coerceText(text, 'boolean'))).toEqual([true, false])
    for (const text of ['12', 'true']) expect(coerceText(text, 'text')).toBe(text)
    for (const text of ['', ' ', 'abc', '1e9', '0x10', 'Infinity', 'NaN', '1 ', '--1', '1.', '.5'])
      expect(coerceText(text, 'number')).toBe(text)
    for (const text of ['', 'TRUE', 'yes', '1', '0']) expect(coerceText(text, 'boolean')).toBe(text)
  })
})

const shown = OPERATIONS.filter(({ surfaces }) => surfaces.rest || surfaces.cli)

it.each(shown.map((operation) => [operation.name, operation] as const))(
  '%s is described to people, not to clients of MCP',
  (_, operation) => {
    const texts = [operation.summary, ...describeInputs(operation).map(({ description }) => description)].join(' ')
    for (const { name } of OPERATIONS) if (name.includes('_')) expect(texts).not.toMatch(new RegExp(`\\b${name}\\b`))
    expect(texts).not.toMatch(/\btools?\b|clients that can ask/)
  },
)

it.each(['update_prompt', 'update_skill'])('%s says that visibility stays', (name) => {
  const operation = OPERATIONS.find((one) => one.name === name)
  const input = operation && describeInputs(operation).find((one) => one.name === 'isPrivate')
  expect(input?.description).toMatch(/Default: unchanged\.?$/)
})
