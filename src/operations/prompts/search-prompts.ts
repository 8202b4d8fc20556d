import { z } from 'zod'
import { parseQuery } from '../../search/analysis/query.ts'
import { defineOperation } from '../core/define-operation.ts'
import { hintsFor, hintsOutput, withLanguages } from '../core/filter-hints.ts'
import { collectionsInput, countSearch, filterText, filterType, limitInput, maxCharactersInput, queryInput } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { fitPrompts, foundPrompt, toFoundPrompt, withScores } from '../core/records.ts'

export const searchPrompts = defineOperation({
  name: 'search_prompts',
  title: 'Search prompts',
  summary:
    'Find prompts by words in their title, description, tags or text, best match first; an empty query lists the newest. An API key includes your private prompts.',
  scope: null,
  cost: 3,
  surfaces: {
    mcp: { readOnly: true, hasBudget: true, note: 'Use get_prompt with an id or slug from the result to fill in its variables.' },
    rest: { method: 'GET', path: '/api/search/prompts' },
    cli: { command: 'search', positional: ['query'] },
  },
  input: z.object({
    query: queryInput.describe('Words to look for; any text is safe'),
    limit: limitInput.describe('Maximum number of results'),
    type: filterType.describe('Only prompts with this kind of output'),
    category: filterText.describe('Category, including subcategories'),
    tag: filterText.describe('Tag'),
    collections: collectionsInput,
    maxCharacters: maxCharactersInput.describe('Longest answer as JSON: contents are cut to fit, metadata never'),
  }),
  output: z.object({ query: z.string(), count: z.number().int(), prompts: z.array(foundPrompt), ...hintsOutput }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl } = context
    const query = parseQuery(input.query)
    const { items, scores } = await store.items.searchItems(actor, 'prompt', {
      query,
      text: input.query,
      filter: { type: input.type, collections: input.collections, categories: oneOf(input.category), anyTags: oneOf(input.tag) },
      sort: 'relevance',
      limit: input.limit,
      offset: 0,
    })
    countSearch(context, input.query, items.length)
    const filterHints = await hintsFor(context, items.length, { category: input.category, tags: oneOf(input.tag) })
    const hints = await withLanguages(context, scores, input.query, filterHints)
    const records = items.map((prompt) => toFoundPrompt(prompt, baseUrl))
    const frame = { query: input.query, count: items.length }
    const budget = input.maxCharacters
    const prompts = budget === undefined ? withScores(records, scores) : fitPrompts(records, scores, frame, budget)
    return { ...frame, prompts, ...hints }
  },
})

/** A single filter value as the store's list of alternatives. */
export function oneOf(value: string | undefined): string[] | undefined {
  return value === undefined ? undefined : [value]
}
