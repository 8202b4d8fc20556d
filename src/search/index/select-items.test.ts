import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  anyItem,
  anyLibrary,
  anyViewer,
  asViewer,
  libraryOf,
  makeLibrary,
  passes,
  type Written,
} from '../../../test/support/indexed-library.ts'

describe('tags and categories', () => {
  it('are counted over what the caller finds', () => {
    fc.assert(
      fc.property(anyLibrary, fc.array(anyItem, { maxLength: 8 }), anyViewer, (prompts, more, viewer) => {
        const skills = more.map((item, place) => ({ ...item, seq: 500 + place }))
        const { put, index } = makeLibrary()
        put(prompts)
        put(skills, 'skill')
        const seen = (items: readonly Written[]) => items.filter((item) => passes(item, {}, viewer))
        const tags = new Map<string, number>()
        for (const tag of [...seen(prompts), ...seen(skills)].flatMap((item) => item.tags)) tags.set(tag, (tags.get(tag) ?? 0) + 1)
        expect(index.countTags(asViewer(viewer))).toEqual(
          [...tags].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([slug, count]) => ({ slug, name: slug.toUpperCase(), count })),
        )
        for (const [kind, items] of [
          ['prompt', prompts],
          ['skill', skills],
        ] as const) {
          const categories = new Map<number, number>()
          for (const { category } of seen(items)) if (category !== null) categories.set(category, (categories.get(category) ?? 0) + 1)
          expect(new Map(index.countCategories(kind, asViewer(viewer)))).toEqual(categories)
        }
      }),
    )
  })

  it('count the spellings of a tag as one, and a filter finds them all', () => {
    const texts = [['sea/Sea'], ['sea/SEA', 'ice/Ice'], ['ice/ice'], ['sea/sea', 'ice/Ice']].map((tags) => ({ content: 'walrus', tags }))
    const { index, seqs, remove } = libraryOf(texts)
    expect(index.countTags(asViewer())).toEqual([
      { slug: 'ice', name: 'Ice', count: 3 },
      { slug: 'sea', name: 'SEA', count: 3 },
    ])
    expect(seqs('', { filter: { anyTags: ['sea'] } })).toEqual([4, 2, 1])
    expect(seqs('', { filter: { allTags: ['sea', 'ice'] } })).toEqual([4, 2])
    remove(2)
    expect(index.countTags(asViewer())[1]).toEqual({ slug: 'sea', name: 'Sea', count: 2 })
  })
})
