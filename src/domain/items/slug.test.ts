import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isId } from '../text/addresses.ts'
import { isSlug, MAX_SLUG, slugCandidates, slugify, slugifyTag } from './slug.ts'
import type { Visibility } from './visibility.ts'

const ID = '3f2b8c1d-9a4e-4b7c-8d21-0123456789ab'

/** The first `count` slugs tried for an item, with a source of randomness that counts. */
function candidates(base: string, visibility: Visibility, count: number): string[] {
  let asked = 0
  const random = (length: number) => String(asked++).padStart(length, 'r')
  return slugCandidates(base, { id: ID, visibility }, random).take(count).toArray()
}

describe('slugify', () => {
  it.each([
    ['Hello World', 'hello-world'],
    ['Ünïcode & 北京', 'unicode-beijing'],
    ['Привет мир', 'privet-mir'],
    ['Ελλάδα', 'ellada'],
    ['Straße', 'strasse'],
    ['１２３', '123'],
    ["Don't stop", 'dont-stop'],
    ['  --a__b--  ', 'a-b'],
    ['cafe\u0301', 'cafe'],
    ['a/b\\c.d', 'a-b-c-d'],
    ['Rocket 🚀 science', 'rocket-science'],
  ])('%s becomes %s', (title, slug) => {
    expect(slugify(title)).toBe(slug)
  })

  it.each(['العربية', 'עברית', 'हिन्दी', '한국어', 'ひらがな', 'ไทย', 'ქართული', 'Հայերեն', 'አማርኛ', 'ខ្មែរ'])(
    'transliterates %s',
    (title) => {
      expect(slugify(title)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    },
  )

  it.each(['', '   ', '!!!', '🎉🎉', '---', '\0'])('%j leaves nothing', (title) => {
    expect(slugify(title)).toBe('')
  })

  it('cuts at 64, at a hyphen when one is near', () => {
    expect(MAX_SLUG).toBe(64)
    expect(slugify('x'.repeat(63))).toHaveLength(63)
    expect(slugify('x'.repeat(64))).toHaveLength(64)
    expect(slugify('x'.repeat(65))).toHaveLength(64)
    expect(slugify(`${'x'.repeat(60)} ${'y'.repeat(10)}`)).toBe('x'.repeat(60))
  })

  it('gives nothing or a slug, whatever the title, and leaves a slug as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (title) => {
        const slug = slugify(title)
        expect(slug).toMatch(/^$|^[a-z0-9]+(-[a-z0-9]+)*$/)
        expect(slug.length).toBeLessThanOrEqual(64)
        expect(slugify(slug)).toBe(slug)
      }),
    )
  })
})

it('writes the signs of tags as words', () => {
  const slugs = ['C++', 'C#', 'F#', 'C', '+', 'Machine Learning', '!'].map(slugifyTag)
  expect(slugs).toEqual(['cplusplus', 'csharp', 'fsharp', 'c', 'plus', 'machine-learning', ''])
})

it('tells slugs from other texts', () => {
  for (const slug of ['a', 'a-b-1', 'x'.repeat(64)]) expect(isSlug(slug), slug).toBe(true)
  for (const text of ['x'.repeat(65), '', '-a', 'a-', 'a--b', 'A', 'ä', 'a_b', 'a\n', ID]) expect(isSlug(text), text).toBe(false)
})

describe('slugCandidates', () => {
  it('tries the plain slug of a public item, then numbers, then random suffixes', () => {
    const tried = candidates('my-title', 'public', 60)
    expect(tried.slice(0, 4)).toEqual(['my-title', 'my-title-2', 'my-title-3', 'my-title-4'])
    expect(tried.at(-1)).toMatch(/^my-title-r+\d+$/)
    expect(new Set(tried).size).toBe(60)
  })

  it.each(['private', 'unlisted'] as const)('gives a %s item a random suffix from the first', (visibility) => {
    const tried = candidates('my-title', visibility, 20)
    for (const slug of tried) expect(slug).toMatch(/^my-title-r+\d+$/)
    expect(new Set(tried).size).toBe(20)
  })

  it.each(['public', 'unlisted', 'private'] as const)('takes the id when nothing is left of a title (%s)', (visibility) => {
    expect(candidates('', visibility, 5)).toEqual([ID])
  })

  it('never gives another item the form of an id', () => {
    for (const visibility of ['public', 'unlisted', 'private'] as const) {
      for (const base of [ID, ID.slice(0, 23), ID.slice(0, 24)]) {
        for (const slug of candidates(slugify(base), visibility, 60)) expect(isId(slug)).toBe(false)
      }
    }
  })

  it('stays a slug of at most 64 with any suffix', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
        fc.constantFrom('public', 'private'),
        (title, visibility) => {
          const base = slugify(title)
          fc.pre(base !== '')
          for (const slug of candidates(base, visibility, 40)) expect(isSlug(slug)).toBe(true)
        },
      ),
    )
  })
})
