import { z } from 'zod'
import { parseScope } from '../../library/channel-scope.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { notFound, refInput } from '../core/inputs.ts'
import { findScope } from './scope-filter.ts'

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
    z.object({ name: z.string(), description: z.string(), notes: z.array(z.string()).readonly(), fault: z.null() }),
    z.object({ name: z.null(), description: z.null(), notes: z.array(z.string()).readonly(), fault: z.string() }),
  ]),
  files: z
    .array(z.object({ filename: z.string(), sha256: z.string(), size: z.number().int(), mode: z.number().int().nullable() }))
    .readonly(),
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
  async run(context: Needs<'items'>, { scope, after }) {
    const held = await findScope(context, scope, 'skill')
    if (held) return await context.store.items.walkSharedSkills(context.actor, held.reach, held.filter, after, PAGE_SIZE)
    if (parseScope(scope)?.kind === 'skill') throw notFound('skill')
    return { skills: [], next: null }
  },
})
