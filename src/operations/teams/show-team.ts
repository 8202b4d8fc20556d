import { z } from 'zod'
import { TEAM_ROLES, teamNotFound } from '../../library/teams.ts'
import { defineOperation } from '../core/define-operation.ts'
import type { Needs } from '../core/procedure.ts'
import { findOwnTeam, teamInput, teamRecord, toTeamRecord } from './team-access.ts'

/** A team: for its members, and without its members for readers who can see an item of it. */
export const showTeam = defineOperation({
  name: 'show_team',
  title: 'Show a team',
  summary:
    'A team by a name of now or of earlier, with your role in it, and how many of its items you can see. Not found when you are not in it and see none.',
  scope: null,
  cost: 3,
  surfaces: { rest: { method: 'GET', path: '/api/teams/{team}' }, cli: { command: 'show-team', positional: ['team'] } },
  input: z.object({ team: teamInput }),
  output: teamRecord.pick({ name: true, displayName: true, description: true }).extend({
    prompts: z.number().int(),
    skills: z.number().int(),
    role: z.enum(TEAM_ROLES).nullable().describe('Your role; null: you are not in it'),
    defaultVisibility: teamRecord.shape.defaultVisibility.optional().describe('For members'),
    createdAt: teamRecord.shape.createdAt.optional().describe('For members'),
    members: z.number().int().optional().describe('How many; for members'),
  }),
  async run(context: Needs<'items' | 'teams'>, { team: name }) {
    const { actor, store } = context
    const { team, role } = await findOwnTeam(context, name)
    const request = { query: null, filter: { ownerId: team.id }, sort: 'newest', limit: 1, offset: 0 } as const
    const [prompts, skills] = await Promise.all([
      store.items.searchItems(actor, 'prompt', request),
      store.items.searchItems(actor, 'skill', request),
    ])
    if (role === null && prompts.total + skills.total === 0) throw teamNotFound()
    const { name: presentName, displayName, description, ...ofMembers } = toTeamRecord(team)
    return {
      name: presentName,
      displayName,
      description,
      prompts: prompts.total,
      skills: skills.total,
      role,
      ...(role === null ? {} : { ...ofMembers, members: await store.teams.countMembers(team.id) }),
    }
  },
})
