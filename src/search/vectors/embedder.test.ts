import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexText, type SearchableText } from '../analysis/indexed-text.ts'
import { createEmbedder, lengthOf } from './embedder.ts'
import { DIMS, NO_WORD_VECTORS, type WordVectors } from './word-vectors.ts'

const at = (axis: number, value = 100) => Int8Array.from({ length: DIMS }, (_, i) => (i === axis ? value : 0))
/** Words with a vector each, the most frequent first, far from each other in frequency. */
function makeVectors(words: readonly (readonly [string, Int8Array])[], step: number): WordVectors {
  const names = words.map(([word]) => word)
  return {
    size: names.length,
    wordOf: (row) => names[row] ?? '',
    find: (word) => names.indexOf(word),
    rankOf: (row) => row * step,
    vectorOf: (row) => words[row]?.[1] ?? new Int8Array(DIMS),
  }
}
const VECTORS = makeVectors(
  [
    ['common', at(0)],
    ['walrus', at(1)],
    ['seal', at(1, 50)],
    ['invoice', at(2)],
    ['the', at(3)],
    ['42', at(4)],
  ],
  10_000,
)
const embedder = createEmbedder(VECTORS)
const embed = (text: Partial<SearchableText>, by = embedder) =>
  by.embedItem(indexText({ title: '', description: '', tags: '', content: '', ...text }))

describe('createEmbedder', () => {
  it('gives the same text the same vector, in every embedder, whatever it has seen', () => {
    const text = { title: 'A walrus', description: 'zorblat', tags: 'invoice', content: 'walrus seal quuxly' }
    const first = embed(text)
    embed({ title: 'seal', content: 'invoice invoice' })
    expect([embed(text), embed(text, createEmbedder(VECTORS))]).toEqual([first, first])
    expect(embed(text, createEmbedder(NO_WORD_VECTORS))).not.toEqual(first)
  })

  it('gives whole numbers of -127 to 127, the largest at the border, or nothing', () => {
    const word = fc.constantFrom('common', 'walrus', 'seal', 'invoice', 'the', '42', 'zorblat', 'quux', 'é北京', '7')
    const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(text, text, text, (title, description, content) => {
        const vector = embed({ title, description, content })
        if (!vector) return
        expect(vector.length).toBe(DIMS)
        expect(Math.max(...vector.map(Math.abs))).toBe(127)
      }),
    )
  })

  it.each<[string, Partial<SearchableText>]>([
    ['nothing', {}],
    ['stop words', { title: 'The', content: 'how do I use the' }],
    ['digits', { title: '42', tags: '2024', content: '1 2 3' }],
    ['signs', { content: '!!! ...' }],
    ['words without a vector', { title: 'zorblat', content: 'quuxly é北京' }],
  ])('has no vector for %s', (_, text) => {
    expect(embed(text)).toBeNull()
  })

  it('does not mind words without a vector, stop words and digits among others', () => {
    const plain = embed({ title: 'walrus', content: 'invoice' })
    expect(embed({ title: 'zorblat walrus', content: 'invoice quuxly' })).toEqual(plain)
    expect(embed({ title: 'the walrus 42', content: 'how to use 3 invoice the' })).toEqual(plain)
  })

  it('lets a rare word weigh more than a frequent one', () => {
    const vector = embed({ content: 'common invoice' })
    expect(Math.abs(vector?.[2] ?? 0)).toBeGreaterThan(10 * Math.abs(vector?.[0] ?? 0))
  })

  it('lets a word said often weigh more, but not as many times', () => {
    const alike = makeVectors(
      [
        ['walrus', at(1)],
        ['invoice', at(2)],
      ],
      0,
    )
    const vector = embed({ content: `${'walrus '.repeat(9)}invoice` }, createEmbedder(alike))
    expect(vector?.[1]).toBe(127)
    expect(vector?.[2]).toBe(Math.round(127 / 3))
  })

  it('reads title, description, tags and text', () => {
    for (const field of ['title', 'description', 'tags', 'content']) expect(embed({ [field]: 'walrus' })?.[1]).toBe(127)
    const both = embed({ title: 'walrus', content: 'invoice' })
    expect([both?.[1], both?.[2]]).toEqual([Math.round((127 * 0.4) / 0.6), 127])
  })

  it('gives a known word’s vector of unit length, whatever its own, with a weight that grows as the word is rarer', () => {
    const walrus = embedder.wordVector('walrus')
    expect(lengthOf(walrus?.vector ?? new Float32Array())).toBeCloseTo(1, 5)
    expect(embedder.wordVector('seal')?.vector).toEqual(walrus?.vector)
    expect(embedder.wordVector('common')?.weight).toBeLessThan(walrus?.weight ?? 0)
    expect(embedder.wordVector('seal')?.weight).toBeLessThanOrEqual(1)
  })

  it('knows what general text knows', () => {
    expect([embedder.isKnown('walrus'), embedder.isKnown('zorblat')]).toEqual([true, false])
    expect(embedder.wordVector('zorblat')).toBeNull()
    expect(createEmbedder(NO_WORD_VECTORS).isKnown('the')).toBe(false)
  })
})
