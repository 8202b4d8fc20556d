import { z } from 'zod'
import type { WalkPosition } from '../../domain/items/item-access.ts'
import type { Category, Prompt } from '../../domain/items/items.ts'
import { collectionsInput, countSearch, filterType, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { browsing, toSearchRequest } from '../items/search-items.ts'

const position: z.ZodType<WalkPosition> = z.object({ createdAt: z.string(), order: z.number().int() })

/** One page of prompts whole: lists elsewhere cut long contents. */
export const listWholePrompts = defineProcedure({
  scope: null,
  input: z.object({ ...browsing, type: filterType }),
  async run(context: Needs<'categories' | 'items'>, input) {
    const { actor, store } = context
    const { items, total } = await store.items.searchItems(actor, 'prompt', toSearchRequest(input))
    if (input.page === 1) countSearch(context, input.q, total)
    return { prompts: await toWholes(context, items), ...toPage(input, total) }
  },
})

/** Every prompt whole, in parts: a part begins where the last one ended, whatever was written between them. */
export const walkWholePrompts = defineProcedure({
  scope: null,
  input: z.object({
    order: z.enum(['newest', 'oldest']).default('newest'),
    collections: collectionsInput,
    after: position.nullable().default(null),
    limit: z.number().int().min(1).max(100).default(100),
  }),
  async run(context: Needs<'categories' | 'items'>, { order, collections, after, limit }) {
    const { prompts, next } = await context.store.items.walkWholePrompts(context.actor, { collections }, order, after, limit)
    return { prompts: await toWholes(context, prompts), next }
  },
})

async function toWholes({ actor, store }: Needs<'categories'>, prompts: readonly Prompt[]) {
  const categories = new Map((await store.categories.listCategories(actor)).map((category) => [category.slug, category]))
  return prompts.map((prompt) => toWhole(prompt, categories))
}

/** A prompt with what the clients of prompts.chat show of it. */
function toWhole(prompt: Prompt, categories: ReadonlyMap<string, Category>) {
  const { id, slug, title, description, content, type, author, contributors, category, tags, votes, createdAt, updatedAt } = prompt
  const parent = categories.get(categories.get(category?.slug ?? '')?.parent ?? '')
  const named = category && { slug: category.slug, name: category.name, parent: parent ? { slug: parent.slug, name: parent.name } : null }
  const plain = { id, slug, title, description, content, type, author, votes, createdAt, updatedAt }
  return { ...plain, contributors: [...contributors], category: named, tags: tags.map((tag) => ({ name: tag.name, slug: tag.slug })) }
}
