import { z } from 'zod'
import { PROMPT_TYPES } from '../../library/fields.ts'
import type { WalkPosition } from '../../library/item-access.ts'
import type { Category, Prompt } from '../../library/items.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { collectionsInput, countSearch, filterType, toPage } from '../core/inputs.ts'
import { browsing, toSearchRequest } from '../prompts/list-prompts.ts'

const named = z.object({ name: z.string(), slug: z.string() })

/** A prompt with what the clients of prompts.chat show of it. */
export const wholePrompt = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  content: z.string(),
  type: z.enum(PROMPT_TYPES),
  author: z.string(),
  contributors: z.array(z.string()),
  category: named.extend({ parent: named.nullable() }).nullable(),
  tags: z.array(named),
  votes: z.number().int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

const position: z.ZodType<WalkPosition> = z.object({ createdAt: z.string(), order: z.number().int() })

/** One page of prompts whole: lists elsewhere cut long contents. */
export const listWholePrompts = defineOperation({
  name: 'list_whole_prompts',
  title: 'List whole prompts',
  summary: 'Prompts with their whole contents, for clients that take them all.',
  scope: null,
  cost: 5,
  surfaces: {},
  input: z.object({ ...browsing, type: filterType }),
  output: z.object({
    prompts: z.array(wholePrompt),
    total: z.number().int(),
    page: z.number().int(),
    perPage: z.number().int(),
    totalPages: z.number().int(),
  }),
  async run(context: Needs<'categories' | 'items'>, input) {
    const { actor, store } = context
    const { items, total } = await store.items.searchItems(actor, 'prompt', toSearchRequest(input))
    if (input.page === 1) countSearch(context, input.q, total)
    return { prompts: await toWholes(context, items), ...toPage(input, total) }
  },
})

/** Every prompt whole, in parts: a part begins where the last one ended, whatever was written between them. */
export const walkWholePrompts = defineOperation({
  name: 'walk_whole_prompts',
  title: 'Read all prompts whole',
  summary: 'All prompts you may see, whole, by the time they were made, in parts.',
  scope: null,
  cost: 5,
  surfaces: {},
  input: z.object({
    order: z.enum(['newest', 'oldest']).default('newest'),
    collections: collectionsInput,
    after: position.nullable().default(null),
    limit: z.number().int().min(1).max(100).default(100),
  }),
  output: z.object({ prompts: z.array(wholePrompt), next: position.nullable() }),
  async run(context: Needs<'categories' | 'items'>, { order, collections, after, limit }) {
    const { prompts, next } = await context.store.items.walkWholePrompts(context.actor, { collections }, order, after, limit)
    return { prompts: await toWholes(context, prompts), next }
  },
})

async function toWholes({ actor, store }: Needs<'categories'>, prompts: readonly Prompt[]): Promise<z.infer<typeof wholePrompt>[]> {
  const categories = new Map((await store.categories.listCategories(actor)).map((category) => [category.slug, category]))
  return prompts.map((prompt) => toWhole(prompt, categories))
}

function toWhole(prompt: Prompt, categories: ReadonlyMap<string, Category>): z.infer<typeof wholePrompt> {
  const { id, slug, title, description, content, type, author, contributors, category, tags, votes, createdAt, updatedAt } = prompt
  const parent = categories.get(categories.get(category?.slug ?? '')?.parent ?? '')
  return {
    id,
    slug,
    title,
    description,
    content,
    type,
    author,
    contributors: [...contributors],
    category: category && { slug: category.slug, name: category.name, parent: parent ? { slug: parent.slug, name: parent.name } : null },
    tags: tags.map((tag) => ({ name: tag.name, slug: tag.slug })),
    votes,
    createdAt,
    updatedAt,
  }
}
