import { z } from 'zod'
import { TEAM_ROLES } from '../../library/teams.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { pageInputs, pageOutputs, toPage } from '../core/inputs.ts'
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
export const listAllTeams = defineOperation({
  name: 'list_all_teams',
  title: 'List all teams',
  summary: 'List every team by name; matching keeps names that contain a text. An orphaned team has no maintainer whose account can act.',
  scope: 'admin',
  surfaces: {},
  input: z.object({ ...pageInputs, matching: z.string().max(64).optional(), orphaned: z.boolean().default(false) }),
  output: z.object({
    teams: z.array(
      teamRecord.extend({
        members: z.number().int(),
        items: z.number().int().describe('Owned, the trash included'),
        maintainers: z.array(z.string()).describe('At most five'),
        isOrphaned: z.boolean(),
        isAsked: z.boolean().describe('Whether a group map names it, and waits for an administrator to allow it'),
      }),
    ),
    ...pageOutputs,
  }),
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
export const bindTeam = defineOperation({
  name: 'bind_team',
  title: 'Let groups fill a team',
  summary: 'Let the groups that a group map names become members of a team. Its maintainers see what they save for it.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ team: teamNameField }),
  output: z.object({ success: z.literal(true) }),
  async run({ store, logins }: Needs<'teams', 'logins'>, { team }) {
    await store.teams.bindTeam(team)
    // Whoever came before is looked at again.
    await logins.forgetSessions()
    return { success: true as const }
  },
})
