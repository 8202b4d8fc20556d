import { describe, expect, it, vi } from 'vitest'
import { createVocabulary, createWordPieces } from './word-pieces.ts'

const VOCABULARY = [
  '[PAD]',
  '[UNK]',
  '[CLS]',
  '[SEP]',
  '[MASK]',
  'cafe',
  'un',
  '##aff',
  '##able',
  'a',
  '##a',
  '文',
  '字',
  '.',
  '#',
  '##',
  'σ',
  '##ς',
]
const pieces = createWordPieces(createVocabulary(VOCABULARY.join('\n')))
const cut = (text: string, most = 100) => pieces.cut(text, most).ids.map((id) => VOCABULARY[id])

describe('word pieces', () => {
  it.each([
    ['', []],
    ['unaffable', ['un', '##aff', '##able']],
    ['UNAFFABLE', ['un', '##aff', '##able']],
    ['un affable', ['un', '[UNK]']],
    ['Café cafe\u0301', ['cafe', 'cafe']],
    ['c\u0000a\u200bf\u00ade', ['cafe']],
    ['cafe.a', ['cafe', '.', 'a']],
    ['a文字a', ['a', '文', '字', 'a']],
    ['un\u00a0a\u2028a', ['un', 'a', 'a']],
    ['##', ['#', '#']],
    ['a[SEP]a', ['a', '[SEP]', 'a']],
    ['[sep]', ['[UNK]', '[UNK]', '[UNK]']],
    ['a\ud800a', ['a', '##a']],
    ['aax', ['[UNK]']],
    // Case is folded letter by letter: a final sigma stays one.
    ['Σ', ['σ']],
  ])('of %j are %j', (text, expected) => {
    expect(cut(text)).toEqual(expected)
  })

  it('are of words of at most 100 characters', () => {
    expect(cut('a'.repeat(100))).toHaveLength(100)
    expect(cut(`${'a'.repeat(101)} a`)).toEqual(['[UNK]', 'a'])
  })

  it('end at the maximum, and so does reading', () => {
    expect(cut('unaffable', 2)).toEqual(['un', '##aff'])
    expect(cut('a a a', 2)).toEqual(['a', 'a'])
    const read = vi.spyOn(String.prototype, 'codePointAt')
    expect(pieces.cut(`a a ${'x'.repeat(1_000)}`, 2).ids).toHaveLength(2)
    const { length: reads } = read.mock.calls
    read.mockRestore()
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(6)
  })

  it('count the words that the vocabulary holds whole, without punctuation', () => {
    expect(pieces.cut('cafe unaffable xqzwvk . a', 100)).toMatchObject({ words: 4, knownWords: 2 })
    expect(pieces.cut('...', 100)).toMatchObject({ words: 0, knownWords: 0 })
  })

  it.each([
    ['marks', 'a\u0301\u0316'],
    ['unknown words of pieces', `${'una'.repeat(33)}x `],
    ['characters that are removed', '\u200b'],
    ['brackets', '['],
    ['composed letters', '\u1e69'],
  ])('of many %s take time linear in the text', (_, part) => {
    // Quadratic time would outlast the test.
    expect(pieces.cut(part.repeat(400_000 / part.length), 400_000)).toBeDefined()
  })

  it('need the special tokens', () => {
    expect(() => createWordPieces(createVocabulary('a'))).toThrow('the vocabulary has no [PAD]')
  })
})

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
