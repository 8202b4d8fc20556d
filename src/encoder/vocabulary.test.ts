import { describe, expect, it } from 'vitest'
import { createVocabulary } from './vocabulary.ts'

describe('a vocabulary', () => {
  const pieces = ['a', 'ab', '##a', '##bc', '##', '#', '文字', '##\ud835']
  const vocabulary = createVocabulary(pieces.join('\n'))

  it.each([
    ['abc', 0, 'ab'],
    ['xa', 1, '##a'],
    ['xbc', 1, '##bc'],
    ['xb', 1, null],
    ['bc', 0, null],
    ['##', 0, '##'],
    ['x#', 1, null],
    ['文字化け', 0, '文字'],
    ['', 0, null],
  ])('finds the longest piece of %j at %d: %j', (word, from, expected) => {
    const id = vocabulary.findLongest(word, from)
    expect(pieces[id] ?? null).toBe(expected)
    if (expected !== null) expect(vocabulary.lengthOf(id)).toBe(from === 0 ? expected.length : expected.length - 2)
  })

  it('finds each of many, and nothing else', () => {
    const many = Array.from({ length: 5_000 }, (_, number) => (number % 2 === 0 ? `w${number}` : `##c${number}`))
    const table = createVocabulary(many.join('\n'))
    expect(table.size).toBe(5_000)
    for (const [id, piece] of many.entries()) {
      const isContinued = piece.startsWith('##')
      const word = isContinued ? `x${piece.slice(2)}` : piece
      expect(table.findLongest(word, isContinued ? 1 : 0)).toBe(id)
      expect(table.findLongest(isContinued ? piece.slice(2) : `x${piece}`, isContinued ? 0 : 1)).toBe(-1)
    }
  })
})
