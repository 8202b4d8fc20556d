import { z } from 'zod'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'

export const showFirstSteps = defineOperation({
  name: 'show_first_steps',
  title: 'Show first steps',
  summary: 'Which of the first steps you have done, and whether you have hidden them.',
  scope: 'account',
  surfaces: {},
  input: z.object({}),
  output: z.object({ hasKey: z.boolean(), hasUsedKey: z.boolean(), hasItem: z.boolean(), isHidden: z.boolean() }),
  run: async ({ actor, store }: Needs<'people'>) => await store.people.readFirstSteps(requireUser(actor).userId),
})

export const hideFirstSteps = defineOperation({
  name: 'hide_first_steps',
  title: 'Hide first steps',
  summary: 'Hide the first steps on your home page for good.',
  scope: 'account',
  surfaces: {},
  input: z.object({}),
  output: z.object({ success: z.literal(true) }),
  async run({ actor, store }: Needs<'people'>) {
    await store.people.hideFirstSteps(requireUser(actor).userId)
    return { success: true as const }
  },
})
