import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from './json.ts'

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth)

describe('depth', () => {
  it.each([
    [63, true],
    [64, true],
    [65, false],
    [100_000, false],
  ])('%i levels are taken: %s', (depth, ok) => {
    expect(parseJson(nested(depth)).ok).toBe(ok)
    expect(parseJson(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`).ok).toBe(ok)
    expect(parseJson(`[${nested(depth - 1)},${nested(depth - 1)}]`).ok).toBe(ok)
  })

  it('counts no brackets inside strings, those after one that ends in a backslash, and none that close too often', () => {
    const text = JSON.stringify({ a: '['.repeat(1000), b: '\\"{'.repeat(1000), ['{'.repeat(100)]: '"' })
    expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
    expect([64, 63].map((depth) => parseJson(`["\\\\",${nested(depth)}]`).ok)).toEqual([false, true])
    expect(parseJson(']'.repeat(100) + nested(100)).ok).toBe(false)
    expect(parseJson(nested(65))).toMatchObject({ reason: expect.stringMatching(/64/) })
  })
})

it.each(['', '{', '[1,]', "{'a': 1}", 'undefined', '{"a":1}}', '\ufeff{}'])('refuses %j', (text) => {
  expect(parseJson(text)).toEqual({ ok: false, reason: expect.any(String) })
})

it('reads what JSON.stringify wrote, and a scalar', () => {
  expect(parseJson(' 1 ')).toEqual({ ok: true, value: 1 })
  fc.assert(
    fc.property(fc.json({ maxDepth: 10 }), (text) => {
      expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
    }),
  )
})
