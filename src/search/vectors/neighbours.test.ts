import { describe, expect, it } from 'vitest'
import { createVocabulary } from '../index/vocabulary.ts'
import { createNeighbours } from './neighbours.ts'
import { DIMS, NO_WORD_VECTORS, type WordVectors } from './word-vectors.ts'

/** Two directions at right angles, with nothing regular about their signs. */
const scattered = (seed: number) => Array.from({ length: DIMS }, (_, i) => Math.sin((i + 1) * seed) + Math.sin((i + 1) ** 2 * seed))
const ALONG = scattered(12.9898)
const ACROSS = (() => {
  const other = scattered(78.233)
  const share = other.reduce((sum, value, i) => sum + value * (ALONG[i] ?? 0), 0) / ALONG.reduce((sum, value) => sum + value ** 2, 0)
  const rest = other.map((value, i) => value - share * (ALONG[i] ?? 0))
  const scale = Math.hypot(...ALONG) / Math.hypot(...rest)
  return rest.map((value) => value * scale)
})()

/** A vector at an angle to the one all tests look from. */
function vectorAt(degrees: number, length = 40): Int8Array {
  const angle = (degrees * Math.PI) / 180
  return Int8Array.from(ALONG, (value, i) => Math.round(length * (Math.cos(angle) * value + Math.sin(angle) * (ACROSS[i] ?? 0))))
}
const ANGLES = new Map([
  ['walrus', vectorAt(0)],
  ['seal', vectorAt(20)],
  ['otter', vectorAt(40, 20)],
  ['shore', vectorAt(58)],
  ['invoice', vectorAt(65)],
  ['tax', vectorAt(90)],
  ['desert', vectorAt(180)],
])
const VECTORS: WordVectors = {
  size: ANGLES.size,
  wordOf: (row) => [...ANGLES.keys()][row] ?? '',
  find: (word) => [...ANGLES.keys()].indexOf(word),
  rankOf: () => 0,
  vectorOf: (row) => [...ANGLES.values()][row] ?? new Int8Array(DIMS),
}

/** Words of general English that are numbered. */
const NUMBERED = {
  wordOf: (row: number) => `w${row}`,
  find: (word: string) => (word.startsWith('w') ? Number(word.slice(1)) : -1),
  rankOf: () => 0,
}

function make(words: readonly string[], vectors = VECTORS) {
  const vocabulary = createVocabulary()
  let last = 0
  const add = (word: string) => vocabulary.add(++last, word, word)
  for (const word of words) add(word)
  const find = createNeighbours(vectors, vocabulary)
  return { add, find, words: (word: string) => find(word).map(({ id }) => vocabulary.wordOf(id)) }
}

describe('createNeighbours', () => {
  it('finds the words of the vocabulary within sixty degrees, nearest first, never the word itself', () => {
    const { words, find } = make(['tax', 'otter', 'walrus', 'unheard', 'invoice', 'seal', 'desert', 'shore'])
    expect(words('walrus')).toEqual(['seal', 'otter', 'shore'])
    const [seal] = find('walrus')
    expect(seal?.cosine).toBeCloseTo(Math.cos(Math.PI / 9), 2)
    for (const { cosine } of find('walrus')) expect(cosine).toBeLessThanOrEqual(1)
  })

  it('does so for a word the vocabulary has not, and finds nothing for one general English does not know, or without vectors', () => {
    expect(make(['seal', 'tax']).words('walrus')).toEqual(['seal'])
    expect(make(['seal', 'unheard']).words('unheard')).toEqual([])
    expect(make(['seal', 'walrus'], NO_WORD_VECTORS).words('walrus')).toEqual([])
    expect(make([]).words('walrus')).toEqual([])
  })

  it('finds the same for more words than it remembers, and what came meanwhile', () => {
    const many: WordVectors = { ...NUMBERED, size: 5000, vectorOf: (row) => vectorAt(row < 2 ? 10 * row : 100 + (row % 80)) }
    const { add, words } = make(['w0', 'w1'], many)
    expect(words('w0')).toEqual(['w1'])
    for (let row = 2; row < 4500; row++) words(`w${row}`)
    expect(words('w0')).toEqual(['w1'])
    add('w2')
    expect(words('w2')).toEqual([])
    expect(words('w3')).toEqual(['w2'])
  })

  it('finds the same in many words at once as in the same words one by one', () => {
    const many = ['tax', 'otter', 'walrus', 'unheard', 'invoice', 'seal', 'desert', 'shore', 'other', 'words', 'yet']
    const { add, words } = make([])
    for (const word of many) {
      add(word)
      words('walrus')
    }
    expect(many.length).toBeGreaterThan(VECTORS.size)
    expect(make(many).words('walrus')).toEqual(words('walrus'))
    expect(words('walrus')).toEqual(['seal', 'otter', 'shore'])
  })

  it('looks at every word it knows, however many those are', () => {
    const size = 3000
    const many: WordVectors = { ...NUMBERED, size, vectorOf: (row) => vectorAt(row % 10 === 0 ? 10 : 100) }
    const { find } = make(
      Array.from({ length: size }, (_, i) => `w${i}`),
      many,
    )
    expect(find('w0').length).toBe(size / 10 - 1)
  })
})
