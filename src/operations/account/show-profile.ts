import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { refInput } from '../core/inputs.ts'

/** A profile, visible to its person and to readers who can see an item of theirs. */
export const showProfile = defineOperation({
  name: 'show_profile',
  title: 'Show a profile',
  summary: "An author's profile, and how many of their items you can see. Not found when there are none.",
  scope: null,
  surfaces: {},
  input: z.object({ username: refInput }),
  output: z.object({
    username: z.string(),
    displayName: z.string().nullable(),
    bio: z.string().nullable(),
    website: z.string().nullable(),
    prompts: z.number().int(),
    skills: z.number().int(),
  }),
  async run({ actor, store }: Needs<'items' | 'people'>, { username }) {
    const person = await store.people.findPersonByName(username)
    const request = { query: null, filter: { authors: [username] }, sort: 'newest', limit: 1, offset: 0 } as const
    const [prompts, skills] = await Promise.all([store.items.searchPrompts(actor, request), store.items.searchSkills(actor, request)])
    const isSelf = actor.kind === 'user' && actor.userId === person?.id
    if (!person || (prompts.total + skills.total === 0 && !isSelf)) throw new AppError('not_found', 'User not found.')
    const { displayName, bio, website } = person
    return { username: person.username, displayName, bio, website, prompts: prompts.total, skills: skills.total }
  },
})
