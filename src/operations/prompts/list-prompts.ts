import { z } from 'zod'
import type { SearchRequest } from '../../library/search.ts'
import { correctQuery, parseQuery } from '../../search/analysis/query.ts'
import { defineOperation } from '../core/define-operation.ts'
import { hintsFor, hintsOutput } from '../core/filter-hints.ts'
import {
  allOfList,
  collectionsInput,
  countSearch,
  filterText,
  filterType,
  pageInputs,
  pageOutputs,
  queryInput,
  toPage,
} from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { listedPrompt, listedSkill, toListedPrompt, toSkillRecord, withScores } from '../core/records.ts'
import { oneOf } from './search-prompts.ts'

const sortInput = z.enum(['relevance', 'newest', 'oldest', 'votes']).optional().describe('Default: relevance with q, else newest')
/** What narrows, sorts and pages a list of items. */
export const browsing = {
  q: queryInput.default('').describe('Search text; empty lists everything'),
  ...pageInputs,
  category: filterText.describe('Category slug or name, including subcategories'),
  tag: allOfList.describe('Tag slugs or names, separated by commas; all must match'),
  author: filterText.describe('Username of the author'),
  collections: collectionsInput,
  sort: sortInput,
}

const correctionOutput = {
  correctedQuery: z.string().optional().describe('The corrected query that was searched, if words are not in the library'),
}

/** A list's input as the store takes it. */
export function toSearchRequest(input: z.infer<z.ZodObject<typeof browsing>> & { type?: string | undefined }): SearchRequest {
  return {
    query: parseQuery(input.q),
    text: input.q,
    filter: {
      type: input.type,
      collections: input.collections,
      categories: oneOf(input.category),
      allTags: input.tag,
      authors: oneOf(input.author),
    },
    sort: input.sort ?? 'relevance',
    limit: input.perPage,
    offset: (input.page - 1) * input.perPage,
  }
}

/** The corrected query, where a word of it was corrected. */
export function toCorrection(query: string, corrections: ReadonlyMap<string, string>): { correctedQuery?: string } {
  const corrected = correctQuery(query, corrections)
  return corrected === null ? {} : { correctedQuery: corrected }
}

export const listPrompts = defineOperation({
  name: 'list_prompts',
  title: 'List prompts',
  summary: 'Search and browse prompts in pages, with exact totals. Content over 20,000 characters is cut (contentTruncated).',
  scope: null,
  cost: 3,
  surfaces: { rest: { method: 'GET', path: '/api/prompts' }, cli: { command: 'list-prompts', positional: [] } },
  input: z.object({ ...browsing, type: filterType }),
  output: z.object({ prompts: z.array(listedPrompt), ...pageOutputs, ...correctionOutput, ...hintsOutput }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl } = context
    const { items, scores, total, corrections } = await store.items.searchItems(actor, 'prompt', toSearchRequest(input))
    if (input.page === 1) countSearch(context, input.q, total)
    return {
      prompts: withScores(
        items.map((prompt) => toListedPrompt(prompt, baseUrl)),
        scores,
      ),
      ...toPage(input, total),
      ...toCorrection(input.q, corrections),
      ...(await hintsFor(context, total, { category: input.category, tags: input.tag })),
    }
  },
})

export const listSkills = defineOperation({
  name: 'list_skills',
  title: 'List skills',
  summary: 'Search and browse skills in pages, with exact totals. Lists file names only.',
  scope: null,
  cost: 3,
  surfaces: { rest: { method: 'GET', path: '/api/skills' }, cli: { command: 'list-skills', positional: [] } },
  input: z.object(browsing),
  output: z.object({ skills: z.array(listedSkill), ...pageOutputs, ...correctionOutput, ...hintsOutput }),
  async run(context: Needs<'categories' | 'items', 'baseUrl'>, input) {
    const { actor, store, baseUrl } = context
    const { items, scores, total, corrections } = await store.items.searchItems(actor, 'skill', toSearchRequest(input))
    if (input.page === 1) countSearch(context, input.q, total)
    return {
      skills: withScores(
        items.map((skill) => toSkillRecord(skill, baseUrl)),
        scores,
      ),
      ...toPage(input, total),
      ...toCorrection(input.q, corrections),
      ...(await hintsFor(context, total, { category: input.category, tags: input.tag })),
    }
  },
})
