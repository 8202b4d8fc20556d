import { describe, expect, it } from 'vitest'
import { DIMS, readWordVectors } from './word-vectors.ts'

interface Entry {
  readonly word: string
  readonly place: number
  readonly vector: readonly number[]
}

/** A file as `scripts/distil-vectors.ts` writes it. */
function makeFile(entries: readonly Entry[]): Uint8Array {
  const sorted = entries.toSorted((a, b) => (a.word < b.word ? -1 : 1))
  const text = new TextEncoder().encode(sorted.map(({ word }) => `${word}\n`).join(''))
  const file = new Uint8Array(16 + sorted.length * (4 + DIMS) + text.length)
  const view = new DataView(file.buffer)
  file.set(new TextEncoder().encode('CPWV'))
  view.setUint32(4, sorted.length, true)
  view.setUint32(8, DIMS, true)
  view.setUint32(12, text.length, true)
  for (const [row, { place, vector }] of sorted.entries()) {
    view.setUint32(16 + row * 4, place, true)
    for (let i = 0; i < DIMS; i++) view.setInt8(16 + sorted.length * 4 + row * DIMS + i, vector[i] ?? 0)
  }
  file.set(text, 16 + sorted.length * (4 + DIMS))
  return file
}

const WORDS = ['a', 'an', 'and', 'ant', 'app', 'apple', 'apples', 'apply', 'b', 'bee', 'zebra', 'zebras', '2', 'x9']
const ENTRIES: readonly Entry[] = WORDS.map((word, place) => ({
  word,
  place: place * 70_000,
  vector: Array.from({ length: DIMS }, (_, i) => ((i * 7 + place * 31) % 255) - 127),
}))

describe('readWordVectors', () => {
  it('finds every word with its place and vector', () => {
    const vectors = readWordVectors(makeFile(ENTRIES))
    expect(vectors.size).toBe(WORDS.length)
    expect(new Set(WORDS.map((word) => vectors.find(word))).size).toBe(WORDS.length)
    for (const { word, place, vector } of ENTRIES) {
      expect(vectors.wordOf(vectors.find(word))).toBe(word)
      const row = vectors.find(word)
      expect([vectors.rankOf(row), [...vectors.vectorOf(row)]], word).toEqual([place, vector])
    }
  })

  it.each(['', 'ap', 'appl', 'applesauce', 'aa', 'c', '0', 'zz', 'zebr', 'APPLE', 'é', '北京', 'a\n', '\0', '😀'])(
    'does not find %j',
    (word) => {
      expect(readWordVectors(makeFile(ENTRIES)).find(word)).toBe(-1)
    },
  )

  it('reads a file that lies within other bytes', () => {
    const file = makeFile(ENTRIES)
    const around = new Uint8Array(file.length + 9).fill(0xff)
    around.set(file, 5)
    const vectors = readWordVectors(around.subarray(5, 5 + file.length))
    const bee = ENTRIES.find(({ word }) => word === 'bee')
    expect([...vectors.vectorOf(vectors.find('bee'))]).toEqual(bee?.vector)
    expect(vectors.rankOf(vectors.find('bee'))).toBe(bee?.place)
  })

  it('reads a file of one word, and of none', () => {
    expect(readWordVectors(makeFile(ENTRIES.slice(0, 1))).find('a')).toBe(0)
    const none = readWordVectors(makeFile([]))
    expect([none.size, none.find('a')]).toEqual([0, -1])
  })

  const edited = (edit: (file: Uint8Array) => void) => {
    const file = makeFile(ENTRIES)
    edit(file)
    return file
  }
  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['half a head', makeFile(ENTRIES).subarray(0, 15)],
    ['another mark', edited((file) => file.set([0x50], 0))],
    ['another count', edited((file) => file.set([WORDS.length - 1], 4))],
    ['other dimensions', edited((file) => file.set([DIMS + 1], 8))],
    ['another length of text', edited((file) => file.set([1], 12))],
    ['a cut end', makeFile(ENTRIES).subarray(0, -1)],
    ['a byte too many', new Uint8Array([...makeFile(ENTRIES), 10])],
    ['a line too few', edited((file) => file.set([65], file.length - 1))],
    ['a line too many', edited((file) => file.set([10], file.length - 3))],
  ])('refuses a file with %s', (_, file) => {
    expect(() => readWordVectors(file)).toThrow(expect.objectContaining({ code: 'internal', message: expect.stringContaining('damaged') }))
  })
})
