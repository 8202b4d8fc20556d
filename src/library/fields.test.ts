import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { contentField, descriptionField, noteField, promptTypeField, tagsField, titleField } from './fields.ts'

const LIMITS = [
  ['title', titleField, 200],
  ['description', descriptionField, 500],
  ['content', contentField, 200_000],
  ['note', noteField, 200],
] as const

describe.each(LIMITS)('%s', (_, field, max) => {
  it.each([
    [max - 1, true],
    [max, true],
    [max + 1, false],
  ])('of %i characters is good: %s', (length, isGood) => {
    expect(field.safeParse('x'.repeat(length)).success).toBe(isGood)
    // Code points, not UTF-16 units: each of these has two.
    expect(field.safeParse('😀'.repeat(length)).success).toBe(isGood)
  })

  it.each(['a\0b', '\0', 'a\ud800', '\udc00b', '\udc00\ud800'])('refuses %j', (text) => {
    expect(field.safeParse(text).success).toBe(false)
  })

  it('keeps the text as it came', () => {
    const text = ' \ufeffcafe\u0301\r\n\t\u0001 😀 '
    expect(field.parse(text)).toBe(text)
  })

  it.each([1, null, undefined, ['x'], { text: 'x' }])('refuses %j, which is no text', (value) => {
    expect(field.safeParse(value).success).toBe(false)
  })

  it('shows its limit in JSON Schema', () => {
    expect(z.toJSONSchema(field, { io: 'input' })).toMatchObject({ type: 'string', maxLength: max })
  })
})

it.each([
  ['title', titleField],
  ['content', contentField],
])('%s may not be empty or blank', (_, field) => {
  for (const text of ['', ' ', '\n\t ', '\u00a0\u3000']) expect(field.safeParse(text).success).toBe(false)
  expect(field.safeParse(' x ').success).toBe(true)
})

it('description may be empty', () => {
  expect(descriptionField.safeParse('').success).toBe(true)
})

describe('tags', () => {
  const tags = (count: number) => Array.from({ length: count }, (_, i) => `tag ${i}`)

  it.each([
    [0, true],
    [9, true],
    [10, true],
    [11, false],
  ])('%i are good: %s', (count, isGood) => {
    expect(tagsField.safeParse(tags(count)).success).toBe(isGood)
  })

  it.each([
    [0, false],
    [1, true],
    [49, true],
    [50, true],
    [51, false],
  ])('one of %i characters is good: %s', (length, isGood) => {
    expect(tagsField.safeParse(['x'.repeat(length)]).success).toBe(isGood)
    expect(tagsField.safeParse(['😀'.repeat(length)]).success).toBe(isGood)
  })

  it('refuses NUL and lone surrogates, naming the place', () => {
    for (const tag of ['a\0', '\ud800']) expect(tagsField.safeParse(['ok', tag]).error?.issues[0]?.path).toEqual([1])
  })
})

it('types are the five of the interface, spelled exactly', () => {
  for (const type of ['TEXT', 'STRUCTURED', 'IMAGE', 'VIDEO', 'AUDIO']) expect(promptTypeField.parse(type)).toBe(type)
  for (const type of ['text', 'SKILL', '', null]) expect(promptTypeField.safeParse(type).success).toBe(false)
})
