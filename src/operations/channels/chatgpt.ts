import { z } from 'zod'
import { SKILL_MD, toFileContent } from '../../domain/skills/skill.ts'
import { parseQuery } from '../../search/analysis/query.ts'
import { defineOperation } from '../core/define-operation.ts'
import { countSearch, notFound, queryInput, refInput, searchBoth } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'

/** Most results of each kind. */
const LIMIT = 10

const result = z.object({ id: z.string(), title: z.string(), url: z.string() })

/** One of the two tools that ChatGPT looks for where connectors are limited to search and fetch; the shapes are its own. */
export const search = defineOperation({
  name: 'search',
  title: 'Search the library',
  summary: 'Search prompts and Agent Skills by words or by what they are for, best match first. Read a result with fetch.',
  scope: null,
  cost: 6,
  surfaces: { mcp: { readOnly: true, profile: 'chatgpt' } },
  input: z.object({ query: queryInput.describe('Words to look for; any text is safe') }),
  output: z.object({ results: z.array(result) }),
  async run(context: Needs<'items', 'baseUrl'>, { query }) {
    const request = { query: parseQuery(query), text: query, filter: {}, sort: 'relevance' as const, limit: LIMIT, offset: 0 }
    const [prompts, skills] = await searchBoth(context, request)
    countSearch(context, query, prompts.items.length + skills.items.length)
    const hits = [prompts, skills].flatMap(({ items, scores }) => items.map((item, place) => ({ item, score: scores[place]?.score ?? 0 })))
    return {
      results: hits
        .toSorted((one, other) => other.score - one.score)
        .map(({ item }) => ({ id: item.id, title: item.title, url: itemUrl(context.baseUrl, item.kind, item) })),
    }
  },
})

/** The other tool of ChatGPT: a prompt, or the SKILL.md of a skill. */
export const fetchItem = defineOperation({
  name: 'fetch',
  title: 'Fetch a result',
  summary: 'The text of a prompt, or SKILL.md of a skill with the names of its other files, by an id from search.',
  scope: null,
  cost: 2,
  surfaces: { mcp: { readOnly: true, profile: 'chatgpt' } },
  input: z.object({ id: refInput.describe('Id of a result') }),
  output: result.extend({ text: z.string(), metadata: z.record(z.string(), z.string()) }),
  async run({ actor, store, baseUrl, count }: Needs<'items', 'baseUrl'>, { id }) {
    const prompt = await store.items.findItem(actor, 'prompt', id)
    const item = prompt ?? (await store.items.findItem(actor, 'skill', id))
    if (!item) throw notFound('prompt')
    count('read', item)
    const file = item.kind === 'skill' ? await store.items.readSkillFile(actor, item.id, SKILL_MD) : null
    return {
      id: item.id,
      title: item.title,
      url: itemUrl(baseUrl, item.kind, item),
      text: item.kind === 'prompt' ? item.content : file ? toFileContent(file).content : '',
      metadata: {
        kind: item.kind,
        author: item.author,
        ...(item.category && { category: item.category.name }),
        ...(item.tags.length > 0 && { tags: item.tags.map(({ name }) => name).join(', ') }),
        ...(item.kind === 'skill' && { files: item.files.map(({ filename }) => filename).join(', ') }),
      },
    }
  },
})
