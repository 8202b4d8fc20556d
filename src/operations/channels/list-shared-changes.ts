import { z } from 'zod'
import { parseScope } from '../../library/channel-scope.ts'
import type { ItemKind } from '../../library/items.ts'
import type { ItemFilter } from '../../library/ports/search.ts'
import type { SharedChange } from '../../library/shared-changes.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { refInput } from '../core/inputs.ts'

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
  async run({ actor, store }: Needs<'items'>, { scope: path, kind, after }) {
    const nothing = { changes: [], next: null }
    const scope = parseScope(path)
    if (!scope) return nothing
    const walk = (reach: 'list' | 'id', filter: ItemFilter) => store.items.walkSharedChanges(actor, reach, kind, filter, after, PAGE_SIZE)
    switch (scope.kind) {
      case 'all':
        return await walk('list', {})
      case 'author':
        return await walk('list', { authors: [scope.name] })
      case 'tag':
        return await walk('list', { allTags: [scope.name] })
      case 'category':
        return await walk('list', { categories: [scope.name] })
      default: {
        const named: ItemKind = scope.kind
        if (named !== kind) return nothing
        const item = kind === 'skill' ? await store.items.findSkill(actor, scope.ref) : await store.items.findPrompt(actor, scope.ref)
        return item ? await walk('id', { ids: [item.id] }) : nothing
      }
    }
  },
})
