import { z } from 'zod'
import { withinOf } from '../../domain/people/actor.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { defineOperation } from '../core/define-operation.ts'
import { pageInputs, pageOutputs, toLimits, toPage } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'

const counts = { prompts: z.number().int(), skills: z.number().int() }

export const listCategories = defineOperation({
  name: 'list_categories',
  title: 'List categories',
  summary:
    'Categories with items you can see, and their counts; children follow their parent. `all` adds empty ones, to choose where to save.',
  scope: null,
  surfaces: { mcp: { readOnly: true }, rest: 'GET /api/categories', cli: 'list-categories' },
  input: z.object({ all: z.boolean().default(false).describe('Include categories without visible items') }),
  output: z.object({ categories: z.array(z.object({ slug: z.string(), name: z.string(), parent: z.string().nullable(), ...counts })) }),
  async run({ actor, store }: Needs<'categories'>, { all }) {
    const categories = await store.categories.listCategories(actor)
    // A narrowed key learns of nothing that is not in its part.
    return { categories: all && withinOf(actor) === null ? [...categories] : usedCategories(categories) }
  },
})

type Categories = Awaited<ReturnType<LibraryStore['categories']['listCategories']>>

/** The categories that have an item, and their parents. */
export function usedCategories(categories: Categories): Categories {
  const used = new Set(categories.flatMap((category) => (category.prompts + category.skills > 0 ? [category.slug, category.parent] : [])))
  return categories.filter((category) => used.has(category.slug))
}

export const listTags = defineOperation({
  name: 'list_tags',
  title: 'List tags',
  summary: 'Tags of the items you can see, most used first.',
  scope: null,
  surfaces: { rest: 'GET /api/tags', cli: 'list-tags' },
  input: z.object(pageInputs),
  output: z.object({ tags: z.array(z.object({ slug: z.string(), name: z.string(), count: z.number().int() })), ...pageOutputs }),
  async run({ actor, store }: Needs<'categories'>, { page, perPage }) {
    const { items, total } = await store.categories.listTags(actor, { ...toLimits({ page, perPage }) })
    return { tags: [...items], ...toPage({ page, perPage }, total) }
  },
})
