import { z } from 'zod'
import type { TeamMember } from '../../domain/people/team-records.ts'
import { requireRight, TEAM_ROLES } from '../../domain/people/teams.ts'
import { defineOperation, wholeKeyWrite } from '../core/define-operation.ts'
import { pageInputs, pageOutputs, toLimits, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { when } from '../core/records.ts'
import { findTeam, memberInput, requireOwnTeam, roleInput, teamInput, toCaller } from './teams.ts'

/** A member, as the other members see them. */
export const memberRecord = z.object({
  username: z.string(),
  displayName: z.string().nullable(),
  role: z.enum(TEAM_ROLES),
  joinedAt: when,
  isSuspended: z.boolean().describe('Whether an administrator suspended the account'),
})

function toMemberRecord({ username, displayName, role, joinedAt, isSuspended }: TeamMember): z.infer<typeof memberRecord> {
  return { username, displayName, role, joinedAt, isSuspended }
}

export const listTeamMembers = defineOperation({
  name: 'list_team_members',
  title: 'List the members of a team',
  summary: 'The members of a team you are in and their roles, maintainers first; matching keeps names that contain a text.',
  scope: 'read',
  needsWholeKey: true,
  cost: 3,
  surfaces: { rest: 'GET /api/teams/{team}/members', cli: 'list-team-members team' },
  input: z.object({ team: teamInput, matching: z.string().max(64).optional(), ...pageInputs }),
  output: z.object({ members: z.array(memberRecord), ...pageOutputs }),
  async run(context: Needs<'teams'>, { team: name, matching, page, perPage }) {
    const { team } = await requireOwnTeam(context, name)
    const wanted = { ...toLimits({ page, perPage }), matching: matching || undefined }
    const { items, total } = await context.store.teams.listMembers(team.id, wanted)
    return { members: items.map(toMemberRecord), ...toPage({ page, perPage }, total) }
  },
})

/** Names that a page offers. */
const MAX_CANDIDATES = 200

/** Completions of a name where a member is added. */
export const suggestMembers = defineProcedure({
  scope: 'account',
  input: z.object({ team: teamInput }),
  async run(context: Needs<'teams'>, { team: name }) {
    const { team, role } = await requireOwnTeam(context, name)
    requireRight(role, 'manage', 'add members')
    return { usernames: [...(await context.store.teams.listCandidates(team.id, MAX_CANDIDATES))] }
  },
})

export const setTeamMember = defineOperation({
  name: 'set_team_member',
  title: 'Add a member or set a role',
  summary:
    'Add somebody to a team you maintain, or change their role. Takes effect on their next request. Administrators may appoint a maintainer of a team that has none.',
  ...wholeKeyWrite,
  surfaces: { rest: 'PUT /api/teams/{team}/members/{username}', cli: 'set-team-member team username role' },
  input: z.object({ team: teamInput, username: memberInput, role: roleInput }),
  output: memberRecord,
  async run(context: Needs<'teams'>, { team: name, username, role }) {
    const team = await findTeam(context, name)
    return toMemberRecord(await context.store.teams.setMember(toCaller(context.actor), team.id, username, role))
  },
})

export const removeTeamMember = defineOperation({
  name: 'remove_team_member',
  title: 'Remove a member or leave',
  summary:
    'Remove somebody from a team you maintain, or leave it yourself: give your own username. What they made stays with the team. The last maintainer cannot go.',
  ...wholeKeyWrite,
  surfaces: { rest: 'DELETE /api/teams/{team}/members/{username}', cli: 'remove-team-member team username' },
  input: z.object({ team: teamInput, username: memberInput }),
  output: z.object({ success: z.literal(true), username: z.string() }),
  async run(context: Needs<'teams'>, { team: name, username }) {
    const team = await findTeam(context, name)
    await context.store.teams.removeMember(toCaller(context.actor), team.id, username)
    return { success: true as const, username }
  },
})
