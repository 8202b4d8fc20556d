import { z } from 'zod'
import type { SharedChange } from '../../library/shared-changes.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { refInput } from '../core/inputs.ts'
import { findScope } from './scope-filter.ts'

/** Items of one page. */
const PAGE_SIZE = 200

/** The log of visible changes that the Git remote's history is computed from: a page of items of one kind. */
export const listSharedChanges = defineOperation({
  name: 'list_shared_changes',
  title: 'List the changes of a channel',
  summary: 'What the items you may see within a scope became, from the log of visible changes.',
  scope: null,
  cost: 5,
  surfaces: {},
  input: z.object({ scope: refInput.default(''), kind: z.enum(['prompt', 'skill']), after: z.number().int().min(0).default(0) }),
  output: z.object({
    changes: z.custom<readonly SharedChange[]>((value) => Array.isArray(value)),
    next: z.number().int().nullable(),
  }),
  async run(context: Needs<'items'>, { scope, kind, after }) {
    const held = await findScope(context, scope, kind)
    if (!held) return { changes: [], next: null }
    return await context.store.items.walkSharedChanges(context.actor, held.reach, kind, held.filter, after, PAGE_SIZE)
  },
})
