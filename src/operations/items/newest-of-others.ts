import { z } from 'zod'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { listedPrompt, toListedPrompt } from '../core/records.ts'

export const listNewestOfOthers = defineOperation({
  name: 'list_newest_of_others',
  title: 'List the newest of others',
  summary: 'The newest prompts that others own.',
  scope: 'account',
  surfaces: {},
  input: z.object({ limit: z.number().int().min(1).max(24).default(5) }),
  output: z.object({ prompts: z.array(listedPrompt), total: z.number().int() }),
  async run({ actor, store, baseUrl }: Needs<'items', 'baseUrl'>, { limit }) {
    const filter = { notOwnerId: requireUser(actor).userId }
    const { items, total } = await store.items.searchPrompts(actor, { query: null, filter, sort: 'newest', limit, offset: 0 })
    return { prompts: items.map((prompt) => toListedPrompt(prompt, baseUrl)), total }
  },
})
