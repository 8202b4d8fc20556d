import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyItem, anyLibrary, anyViewer, makeLibrary, passes, type Written } from '../../../test/support/indexed-library.ts'

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
        expect(index.countTags(viewer)).toEqual(
          [...tags].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([slug, count]) => ({ slug, name: slug.toUpperCase(), count })),
        )
        for (const [kind, items] of [
          ['prompt', prompts],
          ['skill', skills],
        ] as const) {
          const categories = new Map<number, number>()
          for (const { category } of seen(items)) if (category !== null) categories.set(category, (categories.get(category) ?? 0) + 1)
          expect(new Map(index.countCategories(kind, viewer))).toEqual(categories)
        }
      }),
      { numRuns: 40 },
    )
  })
})
