import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  blankForbiddenCharacters,
  countCharacters,
  cutAtWord,
  cutCharacters,
  escapeControlsInJson,
  hasForbiddenCharacter,
  isLongerThan,
  showControls,
  splitControls,
} from './characters.ts'

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

const BIDI = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069']

describe('showControls', () => {
  it('marks C0, C1 and bidirectional controls', () => {
    expect(showControls('a\u202eb')).toBe('a⟨U+202E⟩b')
    expect(showControls('\u001b[31m \u009b\u007f\u0000')).toBe('⟨U+001B⟩[31m ⟨U+009B⟩⟨U+007F⟩⟨U+0000⟩')
    for (const control of BIDI) expect(showControls(control)).toMatch(/^⟨U\+[0-9A-F]{4}⟩$/)
  })

  it('leaves tabs, line ends, letters of every direction and joiners', () => {
    for (const text of ['a\tb\nc\r\nd', 'שלום עולם', 'مرحبا', '👩‍💻', 'ka\u200cr', '\u00a0\u2028']) expect(showControls(text)).toBe(text)
    // One that stands alone moves the cursor of a terminal.
    expect(showControls('a\rb')).toBe('a⟨U+000D⟩b')
  })
})

describe('a text that is full of controls', () => {
  const text = '\u202ea'.repeat(100_000)

  it('grows by no more than its marks', () => {
    expect(showControls(text).length - text.length).toBeLessThan(200 * 10)
    expect(showControls(text).endsWith('\ufffda')).toBe(true)
    const pieces = splitControls(text)
    expect(pieces.filter((piece) => typeof piece === 'object')).toHaveLength(200)
    expect(pieces.at(-1)).toMatch(/^a(?:\ufffda)+$/)
    expect(splitControls(text, 0)).toEqual(['\ufffda'.repeat(100_000)])
  })
})

describe('splitControls', () => {
  it('gives runs their names, and loses nothing', () => {
    expect(splitControls('a\u202e\u2066b')).toEqual(['a', { controls: '\u202e\u2066', name: '202E 2066' }, 'b'])
    expect(splitControls('')).toEqual([''])
    expect(splitControls('\u202e'.repeat(20))[0]).toMatchObject({ name: '202E 202E 202E 202E 202E 202E 202E 202E … (20)' })
    const text = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '\u001b', ...BIDI) })
    fc.assert(
      fc.property(text, (one) => {
        expect(
          splitControls(one)
            .map((piece) => (typeof piece === 'string' ? piece : piece.controls))
            .join(''),
        ).toBe(one)
      }),
    )
  })
})

describe('escapeControlsInJson', () => {
  it('shows controls, and reads the same', () => {
    const value = { title: `\u001b${BIDI.join('')}\u0085\u007f` }
    const json = escapeControlsInJson(JSON.stringify(value))
    expect(json).toMatch(/^[\u0020-\u007e]*$/)
    expect(JSON.parse(json)).toEqual(value)
  })
})
