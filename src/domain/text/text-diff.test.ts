import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countChanges, takeChanges, toChanges } from './text-changes.ts'
import { countChangedLines, type DiffPiece, diffByLines, diffTexts, toDiffBlocks, toDiffLines } from './text-diff.ts'

const oldText = (pieces: readonly DiffPiece[]) => pieces.map(({ kind, text }) => (kind === 'added' ? '' : text)).join('')
const newText = (pieces: readonly DiffPiece[]) => pieces.map(({ kind, text }) => (kind === 'removed' ? '' : text)).join('')
const short = (pieces: readonly DiffPiece[]) => pieces.map(({ kind, text }) => `${{ same: '=', added: '+', removed: '-' }[kind]}${text}`)

describe('diffTexts', () => {
  it('says which words changed, and takes what changed side by side as one change', () => {
    expect(short(diffTexts('one two three\nend', 'one 2 three\nend'))).toEqual(['=one ', '-two', '+2', '= three\n', '=end'])
    expect(short(diffTexts('a b c d', 'a x y d'))).toEqual(['=a ', '-b c', '+x y', '= d'])
    expect(diffTexts('', '')).toEqual([])
    expect(short(diffTexts('a', 'a'))).toEqual(['=a'])
    expect(short(diffTexts('\na', 'b\na'))).toEqual(['+b', '=\n', '=a'])
  })

  it('loses nothing: both texts can be put together again', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '文', '𝒳', 'ü', '.'), maxLength: 60 })
    fc.assert(
      fc.property(text, text, (old, fresh) => {
        for (const pieces of [diffTexts(old, fresh), diffByLines(old, fresh)]) {
          expect([oldText(pieces), newText(pieces)]).toEqual([old, fresh])
          for (const piece of pieces) expect(piece.text.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  it('takes bounded time for texts made to be slow', () => {
    const words = (count: number, alphabet: readonly string[]) => {
      let seed = 7
      return Array.from({ length: count }, () => {
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        return alphabet[(seed >> 8) % alphabet.length] ?? ''
      }).join('')
    }
    for (const [old, fresh] of [
      [words(25_000, ['a ', 'b ', 'c ']), words(24_990, ['b ', 'a ', 'd '])],
      [words(100_000, ['a\n', 'b\n', 'c\n']), words(99_990, ['b\n', 'a\n', 'd\n'])],
      ['\n'.repeat(200_000), 'a\n'.repeat(100_000)],
      ['a'.repeat(200_000), 'b'.repeat(200_000)],
    ] as const) {
      const pieces = diffTexts(old, fresh)
      expect([oldText(pieces) === old, newText(pieces) === fresh]).toEqual([true, true])
    }
  })
})

describe('toDiffLines', () => {
  it('shows lines around a change with their numbers, and counts what it leaves out', () => {
    const lines = toDiffLines(diffByLines('1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\n3\n4\nX\n6\n7\n8\n9\n'), 1)
    expect(lines).toEqual([
      { kind: 'left-out', lines: 3 },
      { kind: 'same', text: '4', number: 4 },
      { kind: 'removed', text: '5', number: 5 },
      { kind: 'added', text: 'X', number: 5 },
      { kind: 'same', text: '6', number: 6 },
      { kind: 'left-out', lines: 3 },
    ])
  })
})

describe('toDiffBlocks', () => {
  it('keeps what it leaves out, with the numbers of both texts', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9'
    expect(toDiffBlocks(diffByLines(before, before.replace('5', 'X\nY')), 1)).toEqual([
      { kind: 'left-out', lines: ['1', '2', '3'], before: 1, after: 1 },
      { kind: 'same', lines: ['4'], before: 4, after: 4 },
      { kind: 'changed', removed: ['5'], added: ['X', 'Y'], before: 5, after: 5 },
      { kind: 'same', lines: ['6'], before: 6, after: 7 },
      { kind: 'left-out', lines: ['7', '8', '9'], before: 7, after: 8 },
    ])
    // One line takes no more room than the words that would count it.
    expect(toDiffBlocks(diffByLines('1\n2\n3', '1\n2\nX'), 1)).toEqual([
      { kind: 'same', lines: ['1', '2'], before: 1, after: 1 },
      { kind: 'changed', removed: ['3'], added: ['X'], before: 3, after: 3 },
    ])
  })

  it('loses no line of either text', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '', 'c d'), { maxLength: 40 }).map((lines) => lines.map((line) => `${line}\n`).join(''))
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 4 }), (old, fresh, around) => {
        const blocks = toDiffBlocks(diffByLines(old, fresh), around)
        const lines = (side: 'removed' | 'added') => blocks.flatMap((block) => (block.kind === 'changed' ? block[side] : block.lines))
        const ended = (all: readonly string[]) => all.map((line) => `${line}\n`).join('')
        expect([ended(lines('removed')), ended(lines('added'))]).toEqual([old, fresh])
        let before = 1
        let after = 1
        for (const block of blocks) {
          expect([block.before, block.after]).toEqual([before, after])
          before += block.kind === 'changed' ? block.removed.length : block.lines.length
          after += block.kind === 'changed' ? block.added.length : block.lines.length
        }
      }),
    )
  })
})

it('counts the lines of changes, the last one without an end too', () => {
  expect(countChangedLines('a\nb\nc', 'a\nB\nc\nd')).toEqual({ added: 2, removed: 1 })
  expect(countChangedLines('', 'a')).toEqual({ added: 1, removed: 0 })
  expect(countChangedLines('a', 'a\n')).toEqual({ added: 0, removed: 0 })
})

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
