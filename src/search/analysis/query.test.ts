import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { correctQuery, damerauLevenshtein, MAX_QUERY, parseQuery } from './query.ts'

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

/** Optimal string alignment by the whole matrix, as the textbook has it. */
function referenceDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : i)))
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.NaN
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, at(i - 2, j - 2) + 1)
      const row = rows[i]
      if (row) row[j] = least
    }
  }
  return at(a.length, b.length)
}

describe('damerauLevenshtein', () => {
  it.each([
    ['', '', 0],
    ['', 'ab', 2],
    ['python', 'python', 0],
    ['pyhton', 'python', 1],
    ['pythn', 'python', 1],
    ['pythoon', 'python', 1],
    ['pythan', 'python', 1],
    ['ypthno', 'python', 2],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
    ['привте', 'привет', 1],
  ])('from %j to %j', (a, b, expected) => {
    expect(damerauLevenshtein(a, b, 5)).toBe(expected)
    expect(damerauLevenshtein(b, a, 5)).toBe(expected)
  })

  it('is the textbook’s, up to the limit, and one more beyond it', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })
    fc.assert(
      fc.property(word, word, fc.nat({ max: 5 }), (a, b, limit) => {
        expect(damerauLevenshtein(a, b, limit)).toBe(Math.min(referenceDistance(a, b), limit + 1))
      }),
    )
  })

  it('finds few edits in words that are nearly the same', () => {
    const edit = fc.tuple(fc.nat({ max: 12 }), fc.constantFrom('insert', 'delete', 'change', 'swap'), fc.constantFrom('a', 'b', 'z'))
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'abcdefg'), minLength: 4, maxLength: 14 }),
        fc.array(edit, { maxLength: 3 }),
        (word, edits) => {
          let edited = word
          for (const [at, what, letter] of edits) {
            const head = edited.slice(0, at)
            const rest = edited.slice(at)
            if (what === 'insert') edited = head + letter + rest
            else if (what === 'delete') edited = head + rest.slice(1)
            else if (what === 'change') edited = head + letter + rest.slice(1)
            else edited = head + rest.charAt(1) + rest.charAt(0) + rest.slice(2)
          }
          for (const limit of [1, 2, 3])
            expect(damerauLevenshtein(word, edited, limit)).toBe(Math.min(referenceDistance(word, edited), limit + 1))
        },
      ),
    )
  })
})
