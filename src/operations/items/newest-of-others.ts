import { z } from 'zod'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
import { toItemLists } from '../core/records.ts'

/** The most that it gives of each kind. */
const MAX_NEWEST = 24

/** The newest prompts and skills that others own. */
export const listNewestOfOthers = defineProcedure({
  scope: 'account',
  input: z.object({ limit: z.number().int().min(1).max(MAX_NEWEST).default(5) }),
  async run({ actor, store, baseUrl }: Needs<'items', 'baseUrl'>, { limit }) {
    const request = { query: null, filter: { notOwnerId: requireUser(actor).userId }, sort: 'newest', limit, offset: 0 } as const
    const prompts = await store.items.searchItems(actor, 'prompt', request)
    const skills = await store.items.searchItems(actor, 'skill', request)
    return toItemLists([...prompts.items, ...skills.items], baseUrl)
  },
})
