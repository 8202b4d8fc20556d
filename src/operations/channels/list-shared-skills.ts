import { z } from 'zod'
import { parseScope } from '../../library/channel-scope.ts'
import { notFound, refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { findScope } from './scope-filter.ts'

/** Skills of one page: each has up to 512 files. */
const PAGE_SIZE = 200

/** The skills a channel gives its caller: every channel renders this list, and has no visibility rule of its own. */
export const listSharedSkills = defineProcedure({
  scope: null,
  input: z.object({ scope: refInput.default(''), after: z.number().int().min(0).default(0) }),
  async run(context: Needs<'items'>, { scope, after }) {
    const held = await findScope(context, scope, 'skill')
    if (held) return await context.store.items.walkSharedSkills(context.actor, held.reach, held.filter, after, PAGE_SIZE)
    if (parseScope(scope)?.kind === 'skill') throw notFound('skill')
    return { skills: [], next: null }
  },
})
