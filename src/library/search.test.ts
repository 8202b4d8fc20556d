import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseQuery, toIndexText } from './search.ts'

const terms = (query: string) => parseQuery(query)?.terms.map((words) => words.join(' ')) ?? null

describe('parseQuery', () => {
  it.each([
    ['linux term', ['linux', 'term']],
    ['  Linux\tTERM\n', ['linux', 'term']],
    ['"exact phrase"', ['exact', 'phrase']],
    ['foo AND bar OR NOT baz NEAR(a b)', ['foo', 'and', 'bar', 'or', 'not', 'baz', 'near', 'a', 'b']],
    ['title:x^2 -y* (z', ['title', 'x', '2', 'y', 'z']],
    ["'; DROP TABLE item; --", ['drop', 'table', 'item']],
    ['a\0b', ['a', 'b']],
    ['a\ud800b', ['a', 'b']],
    ['C++ & 😀 rust', ['c', 'rust']],
    ['❤️ cats', ['cats']],
    ['Ünïcode привет', ['ünïcode', 'привет']],
    ['same same SAME', ['same']],
  ])('reads %j as words', (query, expected) => {
    expect(terms(query)).toEqual(expected)
  })

  it.each(['', '   ', '\n\t\u3000', '\0', '\ud800\0'])('takes %j as empty: the newest are listed', (query) => {
    expect(parseQuery(query)).toBeNull()
  })

  it.each(['!!!', '"" * ( ) :', '😀🎉', '❤️'])('finds no word in %j, so nothing matches', (query) => {
    expect(parseQuery(query)?.terms).toEqual([])
  })

  it('splits writing without spaces into characters that must stand side by side', () => {
    expect(parseQuery('北京 linux')?.terms).toEqual([['北', '京'], ['linux']])
    expect(parseQuery('ひらがな')?.terms).toEqual([['ひ', 'ら', 'が', 'な']])
    expect(parseQuery('GPT模型')?.terms).toEqual([['gpt', '模', '型']])
  })

  it('treats query and index alike', () => {
    expect(toIndexText('用GPT写作').split(' ').filter(Boolean)).toEqual(['用', 'GPT', '写', '作'])
    expect(toIndexText('plain words stay')).toBe('plain words stay')
  })

  it.each([
    ['prom', true],
    ['big prom', true],
    ['prom ', false],
    ['prom\0', false],
    ['北京', false],
    ['foo bar foo', false],
  ])('%j: the last word is still being typed: %s', (query, prefixLast) => {
    expect(parseQuery(query)?.prefixLast).toBe(prefixLast)
  })

  it('takes a bounded number of distinct words', () => {
    const query = parseQuery(Array.from({ length: 2000 }, (_, i) => `w${i}`).join(' '))
    expect(query?.terms.length).toBeGreaterThanOrEqual(8)
    expect(query?.terms.length).toBeLessThanOrEqual(100)
    expect(query?.prefixLast).toBe(false)
  })

  it.each(['x', '北', '😀', '"', '(', '* ', 'é ', 'e\u0301', '\ud800', 'a"b ', 'NEAR('])('takes 10,000 characters of %j', (piece) => {
    const query = parseQuery(piece.repeat(10_000 / piece.length))
    expect((query?.terms ?? []).length).toBeLessThanOrEqual(100)
  })

  it('never throws, never passes on more than words', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 400 }),
          fc.string({ unit: fc.constantFrom('"', '*', '(', ')', 'a', ' ', '\0', '北', '\ud800', ':', '^', '-') }),
        ),
        (query) => {
          for (const words of parseQuery(query)?.terms ?? []) {
            expect(words.length).toBeGreaterThan(0)
            for (const word of words) {
              expect(word).toMatch(/^[\p{L}\p{N}\p{M}\p{Co}]+$/u)
              expect(word.length).toBeLessThanOrEqual(64 * 3)
            }
          }
        },
      ),
    )
  })
})
