import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { contentField, descriptionField, noteField, promptTypeField, tagsField, titleField } from './fields.ts'

const LIMITS = [
  ['title', titleField, 200],
  ['description', descriptionField, 500],
  ['content', contentField, 200_000],
  ['note', noteField, 500],
] as const

describe.each(LIMITS)('%s', (_, field, max) => {
  it('takes as many characters as its limit, which JSON Schema shows', () => {
    // Code points, not UTF-16 units: an emoji has two.
    for (const letter of ['x', '😀'])
      expect([max - 1, max, max + 1].map((length) => field.safeParse(letter.repeat(length)).success)).toEqual([true, true, false])
    expect(z.toJSONSchema(field, { io: 'input' })).toMatchObject({ type: 'string', maxLength: max })
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

  it('are ten at most, of 1 to 50 characters', () => {
    expect([0, 9, 10, 11].map((count) => tagsField.safeParse(tags(count)).success)).toEqual([true, true, true, false])
    for (const letter of ['x', '😀']) {
      const isGood = [0, 1, 49, 50, 51].map((length) => tagsField.safeParse([letter.repeat(length)]).success)
      expect(isGood).toEqual([false, true, true, true, false])
    }
  })

  it('refuses NUL and lone surrogates, naming the place', () => {
    for (const tag of ['a\0', '\ud800']) expect(tagsField.safeParse(['ok', tag]).error?.issues[0]?.path).toEqual([1])
  })
})

it('types are the five of the interface, spelled exactly', () => {
  for (const type of ['TEXT', 'STRUCTURED', 'IMAGE', 'VIDEO', 'AUDIO']) expect(promptTypeField.parse(type)).toBe(type)
  for (const type of ['text', 'SKILL', '', null]) expect(promptTypeField.safeParse(type).success).toBe(false)
})
