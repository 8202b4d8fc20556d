import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  COUNT_MASK,
  decodePostings,
  encodePostings,
  IN_DESCRIPTION,
  IN_TAGS,
  IN_TITLE,
  indexText,
  type Posting,
  type SearchableText,
  toEmbeddedText,
} from './indexed-text.ts'

const EMPTY: SearchableText = { title: '', description: '', tags: '', content: '' }
const index = (text: Partial<SearchableText>) => indexText({ ...EMPTY, ...text })

function decode(bytes: Uint8Array): Posting[] {
  const postings: Posting[] = []
  decodePostings(bytes, (word, code) => postings.push({ word, code }))
  return postings
}

describe('indexText', () => {
  it.each<[string, Partial<SearchableText>, number]>([
    ['title', { title: 'Walrus' }, IN_TITLE],
    ['title twice', { title: 'walrus walrus' }, IN_TITLE],
    ['description', { description: 'a walrus' }, IN_DESCRIPTION],
    ['tags', { tags: 'sea\nwalrus' }, IN_TAGS],
    ['text once', { content: 'walrus' }, 1],
    ['text three times', { content: 'walrus WALRUS wálrus' }, 3],
    ['text as often as is counted', { content: 'walrus '.repeat(COUNT_MASK) }, COUNT_MASK],
    ['text more often', { content: 'walrus '.repeat(1000) }, COUNT_MASK],
    ['everywhere', { title: 'walrus', description: 'walrus', tags: 'walrus', content: 'walrus '.repeat(99) }, 0xff],
    ['title and text', { title: 'walrus', content: 'walrus walrus' }, IN_TITLE | 2],
  ])('notes a word in %s', (_, text, code) => {
    expect(index(text).words.get('walrus')).toBe(code)
  })

  it('counts the words of the title, and of all the rest, repeats included', () => {
    const { titleLength, bodyLength } = index({
      title: 'One two one',
      description: 'three four',
      tags: 'five\nsix seven',
      content: 'tic-tac-toe eight eight',
    })
    expect([titleLength, bodyLength]).toEqual([3, 2 + 3 + 4 + 2])
  })

  it('has no words of nothing', () => {
    const { words, titleLength, bodyLength } = index({ content: '!!! \0' })
    expect([words.size, titleLength, bodyLength]).toEqual([0, 0, 0])
  })

  it('keeps a bounded number of distinct words, those of the title first, and goes on counting those it has', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `w${i}`).join(' ')
    const { words, bodyLength } = index({ content: `${many} w5 w19999`, title: 'walrus', tags: 'sea', description: 'about' })
    expect(words.size).toBe(8192)
    expect([words.get('walrus'), words.get('about'), words.get('sea')]).toEqual([IN_TITLE, IN_DESCRIPTION, IN_TAGS])
    expect([words.get('w5'), words.has('w19999')]).toEqual([2, false])
    expect(bodyLength).toBe(20_004)
  })
})

describe('postings as bytes', () => {
  const number = fc.oneof(
    fc.nat({ max: 300 }),
    fc.nat(),
    fc.integer({ min: 2 ** 31 - 2, max: 2 ** 33 }),
    fc.integer({ min: 0, max: 2 ** 50 }),
  )
  const code = fc.integer({ min: 0, max: 255 })
  const postings = fc.uniqueArray(fc.record({ word: number, code }), { selector: ({ word }) => word, maxLength: 40 })

  it.each([0, 1, 127, 128, 129, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 45, Number.MAX_SAFE_INTEGER])(
    'hold the number %i',
    (word) => {
      expect(decode(encodePostings([{ word, code: 7 }]))).toEqual([{ word, code: 7 }])
    },
  )

  it('are small where words are near each other', () => {
    const near = Array.from({ length: 100 }, (_, i) => ({ word: 1_000_000 + i, code: 1 }))
    expect(encodePostings(near).length).toBeLessThanOrEqual(210)
  })

  it('come back ascending from what stays as it was, and end quietly where the bytes end', () => {
    fc.assert(
      fc.property(postings, (list) => {
        const bytes = encodePostings(Object.freeze(list))
        const whole = decode(bytes)
        expect(whole).toEqual(list.toSorted((a, b) => a.word - b.word))
        for (let length = 0; length <= bytes.length; length++) {
          const read = decode(bytes.subarray(0, length))
          expect(read).toEqual(whole.slice(0, read.length))
        }
      }),
    )
  })

  it('are read to an end whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(decode(bytes).length).toBeLessThanOrEqual(bytes.length / 2)
      }),
    )
  })
})

describe('toEmbeddedText', () => {
  it('is title, description and text, without what is not there', () => {
    expect(toEmbeddedText({ title: 'A', description: 'b', content: 'c' })).toBe('A\n\nb\n\nc')
    expect(toEmbeddedText({ title: 'A', description: '', content: 'c' })).toBe('A\n\nc')
  })

  it('is cut to 8,000 characters, none of them in half', () => {
    const text = toEmbeddedText({ title: 'A', description: '', content: '𝒳'.repeat(9000) })
    expect([[...text].length, text.isWellFormed()]).toEqual([8000, true])
  })
})
