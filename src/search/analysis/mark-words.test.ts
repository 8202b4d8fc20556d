import fc from 'fast-check'
import { stemmer } from 'stemmer'
import { describe, expect, it } from 'vitest'
import { findFirstMark, findMarks, readMarks } from './mark-words.ts'

/** The text with brackets around what is marked. */
function marked(query: string, text: string): string {
  const marks = readMarks(query)
  let shown = ''
  let end = 0
  for (const [start, stop] of marks === null ? [] : findMarks(text, marks)) {
    shown += `${text.slice(end, start)}[${text.slice(start, stop)}]`
    end = stop
  }
  return shown + text.slice(end)
}

describe('marked words', () => {
  it.each([
    ['review code', 'Reviews: the code was reviewed by reviewers', '[Reviews]: the [code] was [reviewed] by [reviewers]'],
    ['generate story', 'Generates stories, generating a storyboard', '[Generates] [stories], [generating] a [storyboard]'],
    ['policy ', 'Policies and police', '[Policies] and police'],
    ['policies ', 'one policy', 'one [policy]'],
    ['rates ', 'rating', '[rating]'],
    ['car ', 'Cars, cards and careers', '[Cars], cards and careers'],
    ['car', 'Cars, cards and careers', '[Cars], [cards] and [careers]'],
    ['c++ or c#', 'C++, C# and css', '[C++], [C#] and css'],
    ['resume ', 'Résumé RESUME', '[Résumé] [RESUME]'],
    ['java script', 'JavaScript in Java', '[JavaScript] in [Java]'],
    ['the of', 'the end of it', '[the] end [of] it'],
    ['the cat', 'the cat', 'the [cat]'],
    ['東京', '大東京都、東京と京都', '大[東京]都、[東京]と京都'],
    ['東京都', '東京都の東', '[東京都]の東'],
    ['京 ab ', '東京ab京 ab', '東[京][ab][京] [ab]'],
    ['ab ', 'éabéab ab', 'éabéab [ab]'],
    ['tri ', 'métrißtri', 'métrißtri'],
    ['pe te ', 're\u0301pe\u0301te\u0301', 're\u0301pe\u0301te\u0301'],
    ['!!!', 'a!!!', 'a!!!'],
    ['', 'text', 'text'],
    ['<b>', '<b>&amp;</b>', '<[b]>&amp;</[b]>'],
  ])('of %j', (query, text, expected) => {
    expect(marked(query, text)).toBe(expected)
  })

  it('stand in their order, none over another', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 200 }), (query, text) => {
        const marks = readMarks(query)
        if (marks === null) return
        let end = 0
        for (const [start, stop] of findMarks(text, marks)) {
          expect(start).toBeGreaterThanOrEqual(end)
          expect(stop).toBeGreaterThan(start)
          expect(stop).toBeLessThanOrEqual(text.length)
          end = stop
        }
      }),
    )
  })

  it('begin where the first of them is found', () => {
    const text = fc.stringMatching(/^(?:(?:review|reviews|code|c#|a|é|東|京|東京)[ ,\n]?){0,12}$/)
    fc.assert(
      fc.property(fc.constantFrom('review', 'code c#', '東京', 'é', 'codes'), text, (query, text) => {
        const marks = readMarks(query)
        if (marks === null) throw new Error('the query has words')
        expect(findFirstMark(text, marks)).toBe(findMarks(text, marks)[0]?.[0] ?? -1)
      }),
    )
  })

  const words = fc.constantFrom(
    ...[
      'review',
      'reviews',
      'reviewed',
      'code',
      'codec',
      'the',
      'a',
      'c',
      'c2',
      're',
      '42',
      'Coding',
      'happy',
      'happier',
      'Rating',
      'rates',
    ],
    ...['possible', 'possibilities', 'relational', 'tries', 'try', 'x'.repeat(48), 'x'.repeat(49), 'code'.repeat(13)],
  )

  it('are those whose word or stem is one of the query, or begins with its last word', () => {
    const text = fc.array(words, { maxLength: 30 }).map((all) => all.filter((word) => word.length < 48).join(' '))
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), fc.constantFrom('', ' '), text, (query, end, plain) => {
        const asked = query.join(' ') + end
        const marks = readMarks(asked)
        if (marks === null) throw new Error('the query has words')
        const { stems, growing } = marks
        const isMarked = (word: string) =>
          marks.words.has(word) || stems.has(stemmer(word)) || (growing !== null && word.startsWith(growing))
        const expected = plain.replaceAll(/[a-z0-9]+/gi, (word) => (isMarked(word.toLowerCase()) ? `[${word}]` : word))
        expect(marked(asked, plain)).toBe(expected)
      }),
    )
  })

  it('take time in proportion to the text', () => {
    const marks = readMarks('walrus tundra 東京')
    if (!marks) throw new Error('no marks')
    // Quadratic time would outlast the test.
    for (const text of ['a'.repeat(200_000), 'ab '.repeat(60_000), '東'.repeat(100_000), 'c+'.repeat(80_000), 'é\u0301'.repeat(60_000)])
      expect(findMarks(text.repeat(3), marks)).toBeDefined()
  })
})
