import { describe, expect, it } from 'vitest'
import { BASE, libraryOf, makeLibrary, POOL, VECTORS, type Written } from '../../../test/support/indexed-library.ts'
import type { EncodedQuery } from '../../domain/ports/encoder.ts'
import type { WordVectors } from '../vectors/word-vectors.ts'

const DIMS = 384

/** A vector whose cosine with {@link QUERY} is the given one. */
function near(cosine: number): Int8Array {
  const vector = new Int8Array(DIMS)
  vector[0] = Math.round(127 * cosine)
  vector[1] = Math.round(127 * Math.sqrt(1 - cosine ** 2))
  return vector
}
const QUERY: EncodedQuery = { vector: Float32Array.from({ length: DIMS }, (_, i) => (i === 0 ? 1 : 0)), knownShare: 1 }
const HALF_KNOWN: EncodedQuery = { ...QUERY, knownShare: 0.5 }

/** A library of prompts with these cosines; null: no vector yet. */
function encodedLibrary(items: readonly (Partial<Written> & { readonly cosine: number | null })[], vectors?: WordVectors) {
  const library = libraryOf(
    items.map(({ cosine, ...item }) => item),
    vectors,
  )
  library.index.applyVectors(
    'prompt',
    items.map(({ cosine }, place) => ({ seq: place + 1, vector: cosine === null ? null : near(cosine) })),
  )
  return library
}

describe('search by sentence vectors', () => {
  it('takes no synonym for a hit that the encoder finds far off', () => {
    const [word = '', synonym = ''] = POOL
    const withCosine = (cosine: number) => encodedLibrary([{ content: synonym, cosine }], VECTORS)
    expect(withCosine(0.1).find(word).seqs).toEqual([1])
    expect(withCosine(0.1).find(word, { sentence: QUERY }).seqs).toEqual([])
    expect(withCosine(0.3).find(word, { sentence: QUERY }).seqs).toEqual([1])
  })

  it('finds nothing by meaning for a query of words that the encoder does not know', () => {
    const { find } = encodedLibrary([
      { content: 'walrus', cosine: 0.9 },
      { content: 'tundra', cosine: 0.9 },
    ])
    expect(find('xqzwvk plumbus', { sentence: HALF_KNOWN }).seqs).toEqual([])
    expect(find('walrus', { sentence: HALF_KNOWN }).seqs).toEqual([1])
  })

  it('lets words lead until nearly every item has a vector', () => {
    const texts = Array.from({ length: 40 }, (_, place) => ({ content: place < 2 ? 'walrus walrus' : `word${place}`, cosine: 0.1 }))
    const items = texts.map((item, place) => ({ ...item, content: place === 1 ? 'walrus' : item.content, cosine: place === 1 ? 0.5 : 0.1 }))
    expect(encodedLibrary(items).find('walrus', { sentence: QUERY }).seqs.slice(0, 2)).toEqual([2, 1])
    const partial = items.map((item, place) => (place > 1 && place < 20 ? { ...item, cosine: null } : { ...item, cosine: item.cosine / 3 }))
    expect(encodedLibrary(partial).find('walrus', { sentence: QUERY }).seqs).toEqual([1, 2])
  })

  it('puts the item of that title first, whatever is nearer', () => {
    const { find } = encodedLibrary([
      { title: 'The Walrus Guide', content: 'tundra', cosine: 0 },
      { title: 'Walrus', content: 'walrus the guide '.repeat(9), cosine: 1 },
    ])
    for (const query of ['The Walrus Guide', 'the walrus guide', 'THE-WALRUS guide!']) {
      const found = find(query, { sentence: QUERY })
      expect(found.seqs).toEqual([1, 2])
      expect(found.scores[0]).toEqual({ score: 1, isApproximate: false })
    }
    expect(find('walrus guide', { sentence: QUERY }).seqs).toEqual([2, 1])
  })

  it('gives scores from 0 to 1 that fall as the order does, the same on every page', () => {
    const { find } = encodedLibrary(
      Array.from({ length: 60 }, (_, place) => ({ content: 'walrus '.repeat(1 + (place % 7)), cosine: place / 60 })),
    )
    const all = find('walrus', { sentence: QUERY })
    const scores = all.scores.map(({ score }) => score)
    expect(scores).toHaveLength(60)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(scores.every((score) => score > 0 && score <= 1)).toBe(true)
    for (const offset of [0, 7, 55]) {
      const page = find('walrus', { sentence: QUERY, offset, limit: 10 })
      expect(page.scores).toEqual(all.scores.slice(offset, offset + 10))
    }
    expect(find('walrus', { sentence: QUERY, sort: 'newest' }).scores).toEqual([])
    expect(find('', {}).scores).toEqual([])
  })

  it('keeps the vector of an item whose words change hands, and drops it with the item', () => {
    const { index, put, remove, find, items } = encodedLibrary([
      { content: 'walrus', cosine: 0.1 },
      { content: 'tundra', cosine: 0.8 },
    ])
    put([{ ...BASE, ...items[1], votes: 9 }])
    expect(find('walrus', { sentence: QUERY }).seqs).toEqual([2, 1])
    index.applyVectors('prompt', [{ seq: 2, vector: null }])
    expect(find('walrus', { sentence: QUERY }).seqs).toEqual([1])
    index.applyVectors('prompt', [
      { seq: 2, vector: near(0.8) },
      { seq: 77, vector: near(1) },
    ])
    remove(2)
    expect(find('walrus', { sentence: QUERY }).seqs).toEqual([1])
    put([{ ...BASE, seq: 3, content: 'quokka' }])
    expect(find('walrus', { sentence: QUERY }).seqs).toEqual([1])
  })

  it('answers from an index without vectors as without an encoder', () => {
    const { find } = makeLibrary()
    expect(find('walrus', { sentence: QUERY })).toEqual(find('walrus'))
    const words = libraryOf(['walrus', 'walrus tundra'])
    expect(words.find('walrus', { sentence: QUERY }).seqs).toEqual(words.find('walrus').seqs)
  })
})
