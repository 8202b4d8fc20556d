import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countCharacters, cutCharacters } from './characters.ts'
import { DERIVED_FROM, deriveDescription } from './derived-description.ts'

describe('deriveDescription', () => {
  it.each([
    [
      'Act as a poet. Write about love and loss in the manner of the old masters. No rhymes.',
      'Act as a poet. Write about love and loss in the manner of the old masters.',
    ],
    [
      '# Guide\n\nShow **${city:Paris}** to a visitor who has one day and very little money. Be kind.',
      'Show [city] to a visitor who has one day and very little money.',
    ],
    [
      '---\nname: x\n---\nRead the change that is given and name each fault in it, the worst one first.',
      'Read the change that is given and name each fault in it, the worst one first.',
    ],
    ['短い文です。これは二番目の文です。', '短い文です。これは二番目の文です。'],
    ['Short', 'Short'],
    ['{"tone": "cool", "light": "high", "colors": ["teal", "cool gray"], "view": "eye-level shot"}', null],
    ['{"tone": "cool", "task": "Draw a harbour at dawn for ${who:me}.", "view": "eye-level shot"}', 'Draw a harbour at dawn for [who].'],
    ['tone: cool\nlight: high\ncolors:\n  - teal\n  - cool gray\n', null],
    ['role: assistant\r\ntask: Draw a harbour at dawn, with boats.\r\n', 'Draw a harbour at dawn, with boats.'],
    ['role: assistant\ntask: |\n  Draw a harbour at dawn, with boats.\nview: eye-level\n', 'Draw a harbour at dawn, with boats.'],
    [' \n ', null],
  ])('%j', (content, description) => {
    expect(deriveDescription(content, 'Guide')).toBe(description)
  })

  it('reads long runs of spaces once', () => {
    // With backtracking, each took seconds.
    for (let n = 0; n < 200; n++) expect(deriveDescription(`a: b\n${' '.repeat(950)}x\u2028b`, 'x')).toBe(null)
  })

  it('cuts a long sentence at a word', () => {
    const derived = deriveDescription('word '.repeat(400), 'x') ?? ''
    expect(derived).toMatch(/^(word )+word…$/)
    expect(countCharacters(derived)).toBeLessThanOrEqual(200)
  })

  it('depends on nothing but the beginning of the text, and is one short line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 700 }), fc.string({ unit: 'grapheme', maxLength: 700 })), (text) => {
        const content = text.repeat(3)
        const derived = deriveDescription(content, 'x')
        expect(deriveDescription(cutCharacters(content, DERIVED_FROM), 'x')).toBe(derived)
        expect(countCharacters(derived ?? '')).toBeLessThanOrEqual(200)
        expect(derived ?? 'x').toMatch(/^\S.*$/u)
      }),
    )
  })
})
