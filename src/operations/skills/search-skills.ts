import { z } from 'zod'
import { parseQuery } from '../../search/analysis/query.ts'
import { defineOperation } from '../core/define-operation.ts'
import { hintsFor, hintsOutput, withLanguages } from '../core/filter-hints.ts'
import { collectionsInput, countSearch, filterText, limitInput, queryInput } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { foundSkill, toFoundSkill, withScores } from '../core/records.ts'
import { oneOf } from '../prompts/search-prompts.ts'

export const searchSkills = defineOperation({
  name: 'search_skills',
  title: 'Search skills',
  summary:
    'Find Agent Skills (folders of instructions and files) by words in their title, description, tags or text files, best match first; an empty query lists the newest. Returns file names only.',
  scope: null,
  cost: 3,
  surfaces: {
    mcp: { readOnly: true, note: 'Read a skill with get_skill.' },
    rest: { method: 'GET', path: '/api/search/skills' },
    cli: { command: 'search-skills', positional: ['query'] },
  },
  input: z.object({
    query: queryInput.describe('Words to look for; any text is safe'),
    limit: limitInput.describe('Maximum number of results'),
    category: filterText.describe('Category, including subcategories'),
    tag: filterText.describe('Tag'),
    collections: collectionsInput,
  }),
  output: z.object({ query: z.string(), count: z.number().int(), skills: z.array(foundSkill), ...hintsOutput }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl } = context
    const { items, scores } = await store.items.searchItems(actor, 'skill', {
      query: parseQuery(input.query),
      text: input.query,
      filter: { collections: input.collections, categories: oneOf(input.category), anyTags: oneOf(input.tag) },
      sort: 'relevance',
      limit: input.limit,
      offset: 0,
    })
    countSearch(context, input.query, items.length)
    const filterHints = await hintsFor(context, items.length, { category: input.category, tags: oneOf(input.tag) })
    const hints = await withLanguages(context, scores, input.query, filterHints)
    const skills = items.map((skill) => toFoundSkill(skill, baseUrl))
    return { query: input.query, count: items.length, skills: withScores(skills, scores), ...hints }
  },
})
