import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'

/** Which of the first steps you have done, and whether you have hidden them. */
export const showFirstSteps = defineProcedure({
  scope: 'account',
  run: async ({ actor, store }: Needs<'people'>) => await store.people.readFirstSteps(requireUser(actor).userId),
})

/** Hide the first steps on your home page for good. */
export const hideFirstSteps = defineProcedure({
  scope: 'account',
  async run({ actor, store }: Needs<'people'>) {
    await store.people.hideFirstSteps(requireUser(actor).userId)
  },
})
