import { z } from 'zod'
import { parseScope } from '../../library/channel-scope.ts'
import type { ItemFilter } from '../../library/ports/search.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { notFound, refInput } from '../core/inputs.ts'

/** Skills of one page: each has up to 512 files. */
const PAGE_SIZE = 200

const sharedSkill = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  author: z.string(),
  category: z.string().nullable(),
  tags: z.array(z.string()).readonly(),
  isPublic: z.boolean(),
  version: z.number().int(),
  updatedAt: z.string(),
  channelName: z.string().nullable(),
  described: z.union([
    z.object({ name: z.string(), description: z.string(), fault: z.null() }),
    z.object({ name: z.null(), description: z.null(), fault: z.string() }),
  ]),
  files: z.array(z.object({ filename: z.string(), sha256: z.string(), size: z.number().int() })).readonly(),
})

/** The skills a channel gives its caller: every channel renders this list, and has no visibility rule of its own. */
export const listSharedSkills = defineOperation({
  name: 'list_shared_skills',
  title: 'List the skills of a channel',
  summary: 'The skills you may see within a scope, oldest first, with their names and digests.',
  scope: null,
  cost: 5,
  surfaces: {},
  input: z.object({ scope: refInput.default(''), after: z.number().int().min(0).default(0) }),
  output: z.object({ skills: z.array(sharedSkill).readonly(), next: z.number().int().nullable() }),
  async run({ actor, store }: Needs<'items'>, input) {
    const scope = parseScope(input.scope)
    if (!scope || scope.kind === 'prompt') return { skills: [], next: null }
    const walk = (reach: 'list' | 'id', filter: ItemFilter) => store.items.walkSharedSkills(actor, reach, filter, input.after, PAGE_SIZE)
    switch (scope.kind) {
      case 'all':
        return await walk('list', {})
      case 'author':
        return await walk('list', { authors: [scope.name] })
      case 'tag':
        return await walk('list', { allTags: [scope.name] })
      case 'category':
        return await walk('list', { categories: [scope.name] })
      case 'skill': {
        const skill = await store.items.findSkill(actor, scope.ref)
        if (!skill) throw notFound('skill')
        return await walk('id', { ids: [skill.id] })
      }
    }
  },
})
