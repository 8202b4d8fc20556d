import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { damerauLevenshtein } from './edit-distance.ts'

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
