import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { correctQuery, MAX_QUERY, parseQuery } from './query.ts'

describe('parseQuery', () => {
  it.each<[string, readonly string[]]>([
    ['linux term', ['linux', 'term']],
    ['"exact phrase"', ['exact', 'phrase']],
    ['foo AND bar OR NOT baz NEAR(a b)', ['foo', 'and', 'bar', 'or', 'not', 'baz', 'near', 'a', 'b']],
    ['title:x^2 -y* (z', ['title', 'x', '2', 'y', 'z']],
    ["'; DROP TABLE item; --", ['drop', 'table', 'item']],
    ['a\0b', ['a', 'b']],
    ['a\ud800b', ['a', 'b']],
    ['C++ & 😀 rust', ['cplusplus', 'rust']],
    ['❤️ cats', ['cats']],
    ['Ünïcode привет', ['unicode', 'привет']],
  ])('reads %j as words, none an operator', (query, expected) => {
    expect(parseQuery(query)?.words).toEqual(expected)
  })

  it.each(['', '   ', '\n\t\u3000', '\0', '\ud800\0', '\ufeff '])('takes %j as blank: everything is listed', (query) => {
    expect(parseQuery(query)).toBeNull()
  })

  it.each(['!!!', '"" * ( ) :', '😀🎉', '❤️', '-', '\u0301'])('finds no word in %j, so nothing matches', (query) => {
    expect(parseQuery(query)).toEqual({ words: [], isLastGrowing: false })
  })

  it('takes 24 words at most, the first', () => {
    const words = Array.from({ length: 2000 }, (_, i) => `w${i}`)
    expect(parseQuery(words.join(' '))).toEqual({ words: words.slice(0, 24), isLastGrowing: false })
    expect(parseQuery(words.slice(0, 24).join(' '))).toEqual({ words: words.slice(0, 24), isLastGrowing: true })
    expect(parseQuery('北京'.repeat(100))?.words.length).toBe(24)
  })

  it.each(['x', 'x ', '北', '😀', '"', '(', '* ', 'é ', 'e\u0301', '\u0301', '\ud800', 'a"b ', 'NEAR(', 'c++', 'a-', '가', '\0', 'ﷺ'])(
    'takes 10,000 characters of %j',
    (unit) => {
      expect(parseQuery(unit.repeat(MAX_QUERY / unit.length))?.words.length ?? 0).toBeLessThanOrEqual(24)
    },
  )

  it('never throws, and passes on nothing but words', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 400 }),
          fc.string({ unit: fc.constantFrom('"', '*', '(', ')', 'a', ' ', '\0', '北', '\ud800', ':', '^', '-', '+', '#', '.') }),
        ),
        (query) => {
          const read = parseQuery(query)
          expect(read?.words.length ?? 0).toBeLessThanOrEqual(24)
          for (const word of read?.words ?? []) expect(word).toMatch(/^[\p{L}\p{N}\p{M}\p{Co}]+$/u)
        },
      ),
    )
  })
})

const CORRECTIONS = new Map([
  ['pyhton', 'python'],
  ['resumee', 'resume'],
  ['привте', 'привет'],
])

describe('correctQuery', () => {
  it.each([
    ['pyhton code', 'python code'],
    ['Pyhton code', 'python code'],
    ['PYHTON', 'python'],
    ['  "pyhton",\tcode! ', '  "python",\tcode! '],
    ['pyhton and pyhton', 'python and python'],
    ['pyhton-script', 'python-script'],
    ['résumée', 'resume'],
    ['re\u0301sume\u0301e', 'resume'],
    ['Привте мир', 'привет мир'],
    ['pyhton 北京 😀', 'python 北京 😀'],
  ])('puts %j right', (query, expected) => {
    expect(correctQuery(query, CORRECTIONS)).toBe(expected)
  })

  it.each(['', 'python code', 'xpyhton', 'pyhtons', 'pyhton2', '!!!', '北京', 'Résumé'])('leaves %j alone', (query) => {
    expect(correctQuery(query, CORRECTIONS)).toBeNull()
  })

  it('puts a correction in as it is, beside another script too, and nothing without one', () => {
    expect(correctQuery('pyhton', new Map([['pyhton', '$& $1']]))).toBe('$& $1')
    expect(correctQuery('pyhton教程', CORRECTIONS)).toBe('python教程')
    expect(correctQuery('pyhton', new Map())).toBeNull()
  })
})
