import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { privateReaderId } from '../../library/actor.ts'
import { refInput } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'

/** A profile of a person or a team, visible to the person, to members of the team, and to readers who can see an item of theirs. */
export const showProfile = defineProcedure({
  scope: null,
  input: z.object({ username: refInput }),
  async run({ actor, store }: Needs<'items' | 'people' | 'teams'>, { username }) {
    const team = await store.teams.findTeam(username)
    const person = team ? null : await store.people.findPersonByName(username)
    const request = { query: null, filter: { authors: [team?.name ?? username] }, sort: 'newest', limit: 1, offset: 0 } as const
    const [prompts, skills] = await Promise.all([
      store.items.searchItems(actor, 'prompt', request),
      store.items.searchItems(actor, 'skill', request),
    ])
    const isSelf = actor.kind === 'user' && actor.userId === person?.id
    const readerId = privateReaderId(actor)
    const isMember = team !== null && readerId !== null && (await store.teams.findTeamRole(readerId, team.id)) !== null
    const isSeen = prompts.total + skills.total > 0 || isSelf || isMember
    const shown = team ? { ...team, username: team.name, bio: team.description, website: null } : person
    if (!shown || !isSeen) throw new AppError('not_found', 'User not found.')
    const { username: name, displayName, bio, website } = shown
    return { username: name, displayName, bio, website, prompts: prompts.total, skills: skills.total, isTeam: team !== null, isMember }
  },
})
