import { z } from 'zod'
import { TEAM_ROLES } from '../../library/teams.ts'
import { defineOperation } from '../core/define-operation.ts'
import { pageInputs, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
import { teamNameField, teamRecord, toTeamRecord } from './team-access.ts'

/** The caller's own teams. */
export const listTeams = defineOperation({
  name: 'list_teams',
  title: 'List your teams',
  summary: 'The teams you are in, with your role in each, by name.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: { rest: { method: 'GET', path: '/api/teams' }, cli: { command: 'list-teams', positional: [] } },
  input: z.object({}),
  output: z.object({ teams: z.array(teamRecord.extend({ role: z.enum(TEAM_ROLES).describe('Your role') })) }),
  async run({ actor, store }: Needs<'teams'>) {
    const teams = await store.teams.listTeamsOf(requireUser(actor).userId)
    return { teams: teams.map((team) => ({ ...toTeamRecord(team), role: team.role })) }
  },
})

/** Every team, for administrators: who maintains it, and how much it owns, but not what. */
export const listAllTeams = defineProcedure({
  scope: 'admin',
  input: z.object({ ...pageInputs, matching: z.string().max(64).optional(), orphaned: z.boolean().default(false) }),
  async run({ store }: Needs<'teams'>, input) {
    const { items, total } = await store.teams.listTeams({
      limit: input.perPage,
      offset: (input.page - 1) * input.perPage,
      matching: input.matching || null,
      isOrphaned: input.orphaned,
    })
    const teams = items.map((team) => ({
      ...toTeamRecord(team),
      members: team.members,
      items: team.items,
      maintainers: [...team.maintainers],
      isOrphaned: team.maintainers.length === 0,
      isAsked: team.isAsked,
    }))
    return { teams, ...toPage(input, total) }
  },
})

/** Lets groups of a sign-in provider fill a team that somebody here made. */
export const bindTeam = defineProcedure({
  scope: 'admin',
  writes: true,
  input: z.object({ team: teamNameField }),
  async run({ store, logins }: Needs<'teams', 'logins'>, { team }) {
    await store.teams.bindTeam(team)
    // Whoever came before is looked at again.
    await logins.forgetSessions()
  },
})
