import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blankForbiddenCharacters, countCharacters, cutAtWord, cutCharacters, hasForbiddenCharacter, isLongerThan } from './characters.ts'

/** Any text, with lone surrogates and pairs often. */
const anyText = fc
  .array(fc.oneof(fc.constantFrom('\ud800', '\udfff', '😀', 'é', 'a', ' ', '\0'), fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 30,
  })
  .map((pieces) => pieces.join(''))

it('counts and cuts by code points, and never through a pair', () => {
  const texts = ['', 'abc', '😀', 'e\u0301', '👩‍💻', '\ud800', '\udc00\ud800', '\ud800😀']
  expect(texts.map(countCharacters)).toEqual([0, 3, 1, 2, 3, 1, 2, 2])
  fc.assert(
    fc.property(anyText, fc.nat(40), (text, limit) => {
      const points = [...text]
      expect(countCharacters(text)).toBe(points.length)
      expect(isLongerThan(text, limit)).toBe(points.length > limit)
      expect(cutCharacters(text, limit)).toBe(points.slice(0, limit).join(''))
    }),
  )
})

describe('cutAtWord', () => {
  it('leaves what fits, and cuts at the end of a word, or inside one that alone is too long', () => {
    expect(cutAtWord('one two', 7)).toBe('one two')
    expect(cutAtWord('one two three', 9)).toBe('one two…')
    expect(cutAtWord(`${'word '.repeat(120)}`, 500)).toMatch(/^(word )+word…$/)
    expect(cutAtWord('x'.repeat(20), 10)).toBe(`${'x'.repeat(9)}…`)
  })

  it('never passes the limit, and begins as the text does', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const cut = cutAtWord(text, limit)
        expect([...cut].length).toBeLessThanOrEqual(limit)
        expect(cut === text || text.startsWith(cut.slice(0, -1))).toBe(true)
      }),
    )
  })
})

it('finds NUL and lone surrogates, and turns them into spaces', () => {
  const texts = ['', 'plain 😀 \n\t\u0001', 'a\0', '\ud800', '\udc00x', '\ufffd']
  expect(texts.map(hasForbiddenCharacter)).toEqual([null, null, 'NUL', 'lone surrogate', 'lone surrogate', null])
  expect(blankForbiddenCharacters('a\0b\ud800c\udc00😀')).toBe('a b c 😀')
})
