import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { damerauLevenshtein } from '../analysis/query.ts'
import { createVocabulary } from './vocabulary.ts'

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 }),
  fc.constantFrom('é', '北京', '北', 'привет', 'a9', 'zebra', 'zebras', '\uffff', 'a\uffff'),
)
const words = fc.uniqueArray(word, { maxLength: 40 })
const always = () => true

function make(list: readonly string[]) {
  const vocabulary = createVocabulary()
  for (const [place, text] of list.entries()) vocabulary.add(place + 1, text, text.slice(0, 2))
  return vocabulary
}

describe('createVocabulary', () => {
  it('tells numbers, words and stems', () => {
    fc.assert(
      fc.property(words, (list) => {
        const vocabulary = make(list)
        for (const [place, text] of list.entries()) {
          expect(vocabulary.idOf(text)).toBe(place + 1)
          expect(vocabulary.wordOf(place + 1)).toBe(text)
          expect(vocabulary.stemOf(place + 1)).toBe(text.slice(0, 2))
          expect(vocabulary.withStem(text.slice(0, 2)).toSorted((a, b) => a - b)).toEqual(
            list.flatMap((other, at) => (other.slice(0, 2) === text.slice(0, 2) ? [at + 1] : [])),
          )
        }
        expect(vocabulary.capacity).toBe(list.length === 0 ? 0 : list.length + 1)
      }),
    )
  })

  it('says nothing of what it does not have, and keeps the first word of a number, in any order', () => {
    const vocabulary = make(['one'])
    expect([vocabulary.idOf('two'), vocabulary.idOf(''), vocabulary.wordOf(9), vocabulary.stemOf(9)]).toEqual([
      undefined,
      undefined,
      '',
      '',
    ])
    const found = [vocabulary.withStem('tw'), vocabulary.withPrefix('two', always), vocabulary.similarTo('tw', 1, always)]
    expect(found).toEqual([[], [], []])
    for (const [id, word] of [
      [1, 'uno'],
      [3, 'three'],
      [2, 'two'],
    ] as const)
      vocabulary.add(id, word, word)
    expect([vocabulary.wordOf(1), vocabulary.idOf('uno'), vocabulary.withStem('on'), vocabulary.idOf('two')]).toEqual([
      'one',
      undefined,
      [1],
      2,
    ])
  })

  it('has room for numbers far apart', () => {
    const vocabulary = make(['one'])
    vocabulary.add(5000, 'two', 'two')
    expect([vocabulary.idOf('two'), vocabulary.wordOf(4000), vocabulary.capacity]).toEqual([5000, '', 5001])
    expect(vocabulary.withPrefix('t', always)).toEqual([5000])
    expect(vocabulary.withPrefix('', always).toSorted((a, b) => a - b)).toEqual([1, 5000])
    expect(vocabulary.similarTo('twoo', 1, always)).toEqual([{ id: 5000, distance: 1 }])
    expect(vocabulary.similarTo('x', 5, always).map(({ id }) => id)).toEqual([1, 5000])
  })

  it('finds longer words by their beginning, also those that came later', () => {
    fc.assert(
      fc.property(
        words,
        fc.nat({ max: 40 }),
        fc.string({ unit: fc.constantFrom('a', 'b', '北'), maxLength: 3 }),
        fc.nat({ max: 3 }),
        (list, early, prefix, skip) => {
          const vocabulary = make(list.slice(0, early))
          const allow = (id: number) => id % 4 !== skip
          const expected = (among: readonly string[]) =>
            among.flatMap((text, place) => (text.startsWith(prefix) && text !== prefix && allow(place + 1) ? [place + 1] : []))
          const found = () => vocabulary.withPrefix(prefix, allow).toSorted((a, b) => a - b)
          expect(found()).toEqual(expected(list.slice(0, early)))
          for (const [place, text] of list.entries()) vocabulary.add(place + 1, text, text)
          expect(found()).toEqual(expected(list))
        },
      ),
    )
  })

  it('finds similar words as looking at each would', () => {
    fc.assert(
      fc.property(words, word, fc.integer({ min: 1, max: 3 }), fc.nat({ max: 3 }), (list, text, maxDistance, skip) => {
        const allow = (id: number) => id % 4 !== skip
        const expected = list.flatMap((other, place) => {
          const distance = damerauLevenshtein(text, other, 99)
          return other !== text && distance <= maxDistance && allow(place + 1) ? [{ id: place + 1, distance }] : []
        })
        const found = make(list).similarTo(text, maxDistance, allow)
        expect(found.toSorted((a, b) => a.id - b.id)).toEqual(expected)
      }),
    )
  })

  it('finds the first words still when there are thousands', () => {
    const list = Array.from({ length: 5000 }, (_, i) => `word${i.toString(36)}`)
    const vocabulary = make(['walrus', ...list])
    expect(vocabulary.similarTo('walruz', 1, always)).toEqual([{ id: 1, distance: 1 }])
    expect(vocabulary.withPrefix('word3uv', always).map((id) => vocabulary.wordOf(id))).toEqual([])
    expect(vocabulary.withPrefix('word3u', always).length).toBe(list.filter((text) => /^word3u./.test(text)).length)
  })

  it('is as one that never had the words it does not keep', () => {
    fc.assert(
      fc.property(words, fc.func(fc.boolean()), (list, isKept) => {
        const vocabulary = make(list)
        const before = vocabulary.generation
        vocabulary.keep((id) => isKept(id))
        const kept = createVocabulary()
        for (const [place, text] of list.entries()) if (isKept(place + 1)) kept.add(place + 1, text, text.slice(0, 2))
        expect(vocabulary.size).toBe(kept.size)
        expect(vocabulary.generation === before).toBe(kept.size === list.length)
        expect(vocabulary.inOrder()).toEqual(kept.inOrder())
        for (const [place, text] of list.entries()) {
          expect([vocabulary.idOf(text), vocabulary.wordOf(place + 1)]).toEqual([kept.idOf(text), kept.wordOf(place + 1)])
          expect(vocabulary.withStem(text.slice(0, 2))).toEqual(kept.withStem(text.slice(0, 2)))
          expect(vocabulary.similarTo(text, 1, always)).toEqual(kept.similarTo(text, 1, always))
        }
      }),
    )
  })
})
