import { z } from 'zod'
import { refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { findScope } from './scope-filter.ts'

/** Items of one page. */
const PAGE_SIZE = 200

/** The log of visible changes that the Git remote's history is computed from: a page of items of one kind. */
export const listSharedChanges = defineProcedure({
  scope: null,
  input: z.object({ scope: refInput.default(''), kind: z.enum(['prompt', 'skill']), after: z.number().int().min(0).default(0) }),
  async run(context: Needs<'items'>, { scope, kind, after }) {
    const held = await findScope(context, scope, kind)
    if (!held) return { changes: [], next: null }
    return await context.store.items.walkSharedChanges(context.actor, held.reach, kind, held.filter, after, PAGE_SIZE)
  },
})
