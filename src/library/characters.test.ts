import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  blankForbiddenCharacters,
  countCharacters,
  cutAtWord,
  cutCharacters,
  hasForbiddenCharacter,
  isBlank,
  isLongerThan,
} from './characters.ts'

/** Any text, with lone surrogates and pairs often. */
const anyText = fc
  .array(fc.oneof(fc.constantFrom('\ud800', '\udfff', '😀', 'é', 'a', ' ', '\0'), fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 30,
  })
  .map((pieces) => pieces.join(''))

describe('countCharacters', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['😀', 1],
    ['e\u0301', 2],
    ['👩‍💻', 3],
    ['\ud800', 1],
    ['\udc00\ud800', 2],
    ['\ud800😀', 2],
  ])('%j has %i', (text, count) => {
    expect(countCharacters(text)).toBe(count)
  })

  it('agrees with iterating code points', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(countCharacters(text)).toBe([...text].length)
      }),
    )
  })
})

it('isLongerThan agrees with counting', () => {
  fc.assert(
    fc.property(anyText, fc.nat(40), (text, limit) => {
      expect(isLongerThan(text, limit)).toBe([...text].length > limit)
    }),
  )
})

it('cutCharacters keeps the first code points and never half of a pair', () => {
  fc.assert(
    fc.property(anyText, fc.nat(40), (text, limit) => {
      expect(cutCharacters(text, limit)).toBe([...text].slice(0, limit).join(''))
    }),
  )
})

describe('cutAtWord', () => {
  it('leaves what fits', () => {
    expect(cutAtWord('one two', 7)).toBe('one two')
  })

  it('cuts at the end of a word', () => {
    expect(cutAtWord('one two three', 9)).toBe('one two…')
    expect(cutAtWord(`${'word '.repeat(120)}`, 500)).toMatch(/^(word )+word…$/)
  })

  it('cuts inside a word that alone is too long', () => {
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

it.each([
  ['', null],
  ['plain 😀 \n\t\u0001', null],
  ['a\0', 'NUL'],
  ['\ud800', 'lone surrogate'],
  ['\udc00x', 'lone surrogate'],
  ['\ufffd', null],
])('hasForbiddenCharacter(%j) is %s', (text, expected) => {
  expect(hasForbiddenCharacter(text)).toBe(expected)
})

it('blankForbiddenCharacters turns NUL and lone surrogates into spaces', () => {
  expect(blankForbiddenCharacters('a\0b\ud800c\udc00😀')).toBe('a b c 😀')
})

it.each([
  ['', true],
  [' \t\r\n\u00a0\u3000', true],
  [' x ', false],
  ['0', false],
])('isBlank(%j) is %s', (text, expected) => {
  expect(isBlank(text)).toBe(expected)
})
