import { z } from 'zod'
import { parseQuery } from '../../search/analysis/query.ts'
import { defineOperation } from '../core/define-operation.ts'
import { countSearch, filterText, limitInput, queryInput } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { oneOf } from '../items/search-items.ts'

/** What `npx skills find` asks for; the names and the shape are its own. */
export const findSkills = defineOperation({
  name: 'find_skills',
  title: 'Find skills to install',
  summary:
    'Search skills in the form of `npx skills find`: with the environment variable SKILLS_API_URL set to this service, it searches here.',
  scope: null,
  cost: 3,
  surfaces: { rest: { method: 'GET', path: '/api/search' } },
  input: z.object({
    q: queryInput.default('').describe('Words to look for; any text is safe'),
    limit: limitInput.default(20).describe('Maximum number of results'),
    owner: filterText.describe('Username of the author'),
  }),
  output: z.object({
    skills: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        source: z.string().describe('What to install it from; add @ and the name'),
        installs: z.number().int().describe('Always 0: installs are not counted in public'),
      }),
    ),
  }),
  async run(context: Needs<'items', 'baseUrl'>, { q, limit, owner }) {
    const { actor, store, baseUrl } = context
    const { items } = await store.items.searchItems(actor, 'skill', {
      query: parseQuery(q),
      text: q,
      filter: { authors: oneOf(owner) },
      sort: 'relevance',
      limit,
      offset: 0,
    })
    countSearch(context, q, items.length)
    const ids = items.map(({ id }) => id)
    const { skills } = await store.items.walkSharedSkills(actor, 'list', { ids }, 0, limit)
    const shared = new Map(skills.map((skill) => [skill.id, skill]))
    return {
      skills: ids.flatMap((id) => {
        const skill = shared.get(id)
        // Clients install only what follows the specification.
        if (!skill || skill.described.fault !== null) return []
        const source = `${baseUrl}/skills/${skill.isPublic ? skill.slug : id}`
        return [{ id, name: skill.channelName ?? skill.described.name, source, installs: 0 }]
      }),
    }
  },
})
