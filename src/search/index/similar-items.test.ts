import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyFilter, anyLibrary, anyVectors, libraryOf, makeLibrary, POOL, passes, wordList } from '../../../test/support/indexed-library.ts'
import { NO_WORD_VECTORS } from '../vectors/word-vectors.ts'

describe('similar', () => {
  it('finds the items most like a text first, each once, with how much, from 0 to 1', () => {
    fc.assert(
      fc.property(anyLibrary, wordList(POOL, 10), anyFilter, fc.nat({ max: 8 }), anyVectors, (items, text, filter, limit, vectors) => {
        const { put, index } = makeLibrary(vectors)
        put(items)
        const found = index.similar('prompt', text, filter, limit)
        expect(found.length).toBeLessThanOrEqual(limit)
        expect(new Set(found.map(({ seq }) => seq)).size).toBe(found.length)
        for (const { seq, similarity } of found) {
          const item = items.find((one) => one.seq === seq)
          expect(item && passes(item, filter, null)).toBe(true)
          expect(similarity).toBeLessThanOrEqual(1.000001)
          expect(similarity).toBeGreaterThanOrEqual(-1.000001)
        }
        expect(found.map(({ similarity }) => similarity)).toEqual(found.map(({ similarity }) => similarity).toSorted((a, b) => b - a))
      }),
    )
  })

  it('answers the same whether items came at once or later', () => {
    const texts = Array.from({ length: 80 }, (_, i) => (i < 40 ? `walrus tundra one${i} two${i}` : `quokka saffron velvet three${i}`))
    const early = libraryOf(texts.slice(0, 40))
    const ask = ({ index }: ReturnType<typeof makeLibrary>) => index.similar('prompt', 'walrus one7 velvet three60', {}, 20)
    ask(early)
    const late = libraryOf(texts)
    early.put(late.items.slice(40))
    expect(ask(early).map(({ seq }) => seq)).toEqual(ask(late).map(({ seq }) => seq))
    for (const [place, { similarity }] of ask(early).entries())
      expect(similarity).toBeCloseTo(ask(late)[place]?.similarity ?? Number.NaN, 4)
  })

  it('puts the same text first', () => {
    const texts = POOL.map((word, i) => `${word} ${POOL[(i + 3) % POOL.length]} ${POOL[(i + 7) % POOL.length]}`)
    const { index } = libraryOf(texts)
    for (const [place, text] of texts.entries()) expect(index.similar('prompt', text, {}, 3)[0]?.seq).toBe(place + 1)
  })

  it('goes by shared words alone where no word has a vector', () => {
    const { index } = libraryOf(['zorblat quuxly', 'zorblat quuxly bravo walrus', 'zorblat bravo', 'tundra'], NO_WORD_VECTORS)
    const found = index.similar('prompt', 'zorblat quuxly', {}, 5)
    expect(found.map(({ seq }) => seq)).toEqual([1, 2])
    expect(found[0]?.similarity).toBeGreaterThan(found[1]?.similarity ?? 1)
  })

  it.each(['', '!!!', 'the of and', '42'])('finds nothing like %j', (text) => {
    expect(libraryOf(['walrus', 'the of and 42']).index.similar('prompt', text, {}, 5)).toEqual([])
  })

  const DIMENSIONS = 384
  /** A vector at this cosine from the first axis. */
  const atCosine = (cosine: number) => {
    const vector = new Float32Array(DIMENSIONS)
    vector.set([cosine, Math.sqrt(1 - cosine * cosine)])
    return vector
  }
  const QUERY = atCosine(1)
  const withVectors = (cosines: readonly number[]) => {
    const library = libraryOf(cosines.map((_, place) => `text${place} walrus`))
    const vectors = cosines.map((cosine, place) => ({ seq: place + 1, vector: Int8Array.from(atCosine(cosine), (value) => value * 127) }))
    library.index.applyVectors('prompt', vectors)
    return library.index
  }

  it("goes by the encoder's cosine, and gives none below the floor", () => {
    const index = withVectors([0.3, 0.5, 0.9, 0.1])
    const found = index.similar('prompt', 'walrus', {}, 5, { vector: QUERY, knownShare: 1 })
    expect(found.map(({ seq }) => seq)).toEqual([3, 2])
    expect(found[0]?.similarity).toBeCloseTo(0.9, 1)
    expect(withVectors([0.3, 0.2]).similar('prompt', 'walrus', {}, 5, { vector: QUERY, knownShare: 1 })).toEqual([])
  })

  it('does not trust the encoder with a text whose words it does not know', () => {
    const index = withVectors([0.9, 0.9])
    expect(index.similar('prompt', 'xqzwvk plumbus', {}, 5, { vector: QUERY, knownShare: 0.2 })).toEqual([])
    const byWords = index.similar('prompt', 'text1 walrus plumbus', {}, 5, { vector: QUERY, knownShare: 0.2 })
    expect(byWords.map(({ seq }) => seq)).toEqual([2])
  })

  it("compares items without the encoder's vector by words", () => {
    const { index } = libraryOf(['zorblat quuxly', 'tundra'], NO_WORD_VECTORS)
    expect(index.similar('prompt', 'zorblat quuxly', {}, 5, { vector: QUERY, knownShare: 1 }).map(({ seq }) => seq)).toEqual([1])
  })

  it('gives none where one of many words is shared', () => {
    const { index } = libraryOf(['a cocktail bar at night', 'tundra'], NO_WORD_VECTORS)
    expect(index.similar('prompt', 'foo bar baz', {}, 5)).toEqual([])
  })
})
