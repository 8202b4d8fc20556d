import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countChanges, takeChanges, toChanges } from './text-changes.ts'
import { diffTexts } from './text-diff.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '文', '𝒳', 'ü', '.', '${a}'), maxLength: 80 })

describe('changes', () => {
  it('that touch each other are one', () => {
    expect(toChanges(diffTexts('one two three\nend', 'one 2 three, four\nend'))).toEqual([
      'one ',
      { removed: 'two', added: '2' },
      ' three',
      { removed: '', added: ', four' },
      '\n',
      'end',
    ])
    expect(
      toChanges([
        { kind: 'removed', text: 'a' },
        { kind: 'added', text: 'b' },
        { kind: 'removed', text: 'c' },
      ]),
    ).toEqual([{ removed: 'ac', added: 'b' }])
  })

  it('taken one by one give exactly the text they say', () => {
    const parts = toChanges(diffTexts('one two three\nend', 'one 2 three, four\nend'))
    expect(takeChanges(parts, new Set([0]))).toBe('one 2 three\nend')
    expect(takeChanges(parts, new Set([1]))).toBe('one two three, four\nend')
    expect(takeChanges(parts, new Set([2, -1, Number.NaN]))).toBe('one two three\nend')
  })

  it('give the newer text when all are taken, the older when none is, and can be taken in two steps', () => {
    fc.assert(
      fc.property(text, text, fc.array(fc.boolean(), { maxLength: 80 }), (before, after, isTaken) => {
        const parts = toChanges(diffTexts(before, after))
        const all = [...Array(countChanges(parts)).keys()]
        expect(takeChanges(parts, new Set(all))).toBe(after)
        expect(takeChanges(parts, new Set())).toBe(before)
        for (const [at, part] of parts.entries()) {
          if (typeof part === 'string') continue
          expect(part.removed).not.toBe(part.added)
          expect(typeof (parts[at + 1] ?? '')).toBe('string')
        }
        // Making the other changes in the text that has some of them gives the newer one.
        const some = new Set(all.filter((number) => isTaken[number]))
        let number = 0
        const rest = parts.map((part) => {
          if (typeof part === 'string') return part
          return some.has(number++) ? part.added : part
        })
        const others = new Set(Array(countChanges(rest)).keys())
        expect(takeChanges(rest, new Set())).toBe(takeChanges(parts, some))
        expect(takeChanges(rest, others)).toBe(after)
      }),
    )
  })
})
