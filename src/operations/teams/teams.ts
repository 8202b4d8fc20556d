import { z } from 'zod'
import { checkedText } from '../../domain/items/fields.ts'
import { DEFAULT_VISIBILITIES } from '../../domain/items/visibility.ts'
import { displayNameField, usernameFault } from '../../domain/people/account.ts'
import { type Actor, privateReaderId, withinOf } from '../../domain/people/actor.ts'
import type { Team, TeamCaller, TeamMember } from '../../domain/people/people.ts'
import { requireRight, TEAM_ROLES, type TeamRole, teamDescriptionField, teamNotFound } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import { defineOperation, wholeKeyWrite } from '../core/define-operation.ts'
import { clearable, pageInputs, pageOutputs, refInput, searchBoth, toCleared, toLimits, toPage } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { when } from '../core/records.ts'

export const teamInput = refInput.describe('Name of the team')
/** A person's name, as somebody writes it. */
const memberInput = z.string().max(64).describe('Username')
const roleInput = z
  .enum(TEAM_ROLES)
  .describe(
    'reader: sees private items; editor: also creates and edits; maintainer: also publishes, deletes, transfers and manages members',
  )
const defaultVisibilityInput = z.enum(DEFAULT_VISIBILITIES).describe('Of new items of the team')

/** A new name of a team. */
const teamNameField = checkedText(usernameFault).meta({ minLength: 1, maxLength: 64 })

/** A team as its members see it. */
export const teamRecord = z.object({
  name: z.string(),
  displayName: z.string().nullable(),
  description: z.string().nullable(),
  defaultVisibility: z.enum(DEFAULT_VISIBILITIES),
  createdAt: when,
})

function toTeamRecord({ name, displayName, description, defaultVisibility, createdAt }: Team): z.infer<typeof teamRecord> {
  return { name, displayName, description, defaultVisibility, createdAt }
}

/**
 * The caller who changes a team: administrators use their rights on the pages and from the command line alone.
 * @throws AppError `forbidden` for keys that read nothing private
 */
function toCaller(actor: Actor): TeamCaller {
  const user = requireUser(actor)
  if (!user.scopes.has('read')) {
    throw new AppError('forbidden', 'Who is in a team decides who reads its private items, so this API key needs the "read" scope too.')
  }
  return { userId: user.userId, isAdmin: user.scopes.has('admin') }
}

/** The team of a name, for a change; the change reads the caller's role. @throws AppError `not_found` */
async function findTeam({ store }: Needs<'teams'>, name: string): Promise<Team> {
  const team = await store.teams.findTeam(name)
  if (!team) throw teamNotFound()
  return team
}

/** The team of a name and the caller's role in it; null for others than members, and for keys that read nothing private. */
async function findOwnTeam(context: Needs<'teams'>, name: string): Promise<{ readonly team: Team; readonly role: TeamRole | null }> {
  const team = await findTeam(context, name)
  const within = withinOf(context.actor)
  const isOutside = within !== null && !('team' in within && within.team === team.id)
  const userId = isOutside ? null : privateReaderId(context.actor)
  return { team, role: userId === null ? null : await context.store.teams.findTeamRole(userId, team.id) }
}

/** The team of a name, which the caller is in. @throws AppError `not_found` */
export async function requireOwnTeam(context: Needs<'teams'>, name: string): Promise<{ readonly team: Team; readonly role: TeamRole }> {
  const { team, role } = await findOwnTeam(context, name)
  if (role === null) throw teamNotFound()
  return { team, role }
}

/** The caller's own teams. */
export const listTeams = defineOperation({
  name: 'list_teams',
  title: 'List your teams',
  summary: 'The teams you are in, with your role in each, by name.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: { rest: 'GET /api/teams', cli: 'list-teams' },
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
    const wanted = { ...toLimits(input), matching: input.matching || null, isOrphaned: input.orphaned }
    const { items, total } = await store.teams.listTeams(wanted)
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
export const bindTeam = defineWrite({
  scope: 'admin',
  input: z.object({ team: teamNameField }),
  async run({ store, forgetArrivals }: Needs<'teams', 'forgetArrivals'>, { team }) {
    await store.teams.bindTeam(team)
    forgetArrivals()
  },
})

/** A team: for its members, and without its members for readers who can see an item of it. */
export const showTeam = defineOperation({
  name: 'show_team',
  title: 'Show a team',
  summary:
    'Look up a team by its current or a former name, with your role in it, and how many of its items you can see. Not found when you are not in it and see none.',
  scope: null,
  cost: 3,
  surfaces: { rest: 'GET /api/teams/{team}', cli: 'show-team team' },
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
    const { team, role } = await findOwnTeam(context, name)
    const request = { query: null, filter: { ownerId: team.id }, sort: 'newest', limit: 1, offset: 0 } as const
    const [prompts, skills] = await searchBoth(context, request)
    if (role === null && prompts.total + skills.total === 0) throw teamNotFound()
    const { name: presentName, displayName, description, ...ofMembers } = toTeamRecord(team)
    const shown = { name: presentName, displayName, description, prompts: prompts.total, skills: skills.total, role }
    return {
      ...shown,
      ...(role === null ? {} : { ...ofMembers, members: await context.store.teams.countMembers(team.id) }),
    }
  },
})

/** Creates a team; whoever creates it maintains it. */
export const createTeam = defineOperation({
  name: 'create_team',
  title: 'Create a team',
  summary:
    'Create a team that owns prompts and skills. You are its maintainer. Names of teams and users are unique together and never reused.',
  ...wholeKeyWrite,
  // Its name is taken for good: at most a dozen a minute, by the default limits.
  cost: 1_000,
  surfaces: { rest: 'POST /api/teams 201', cli: 'create-team team' },
  input: z.object({
    team: teamNameField.describe('Name of the team'),
    displayName: clearable(displayNameField),
    description: clearable(teamDescriptionField),
    defaultVisibility: defaultVisibilityInput.default('private'),
    maintainer: memberInput.optional().describe('Username of somebody else; only administrators may name one'),
  }),
  output: teamRecord,
  async run({ actor, store }: Needs<'teams'>, { team: name, displayName, description, defaultVisibility, maintainer }) {
    const draft = { name, displayName: displayName || null, description: description || null, defaultVisibility, maintainer }
    return toTeamRecord(await store.teams.createTeam(toCaller(actor), draft))
  },
})

export const updateTeam = defineOperation({
  name: 'update_team',
  title: 'Change a team',
  summary:
    'Rename a team you maintain, or change its description or the visibility of new items. Its former names keep leading to it. An empty text removes a field.',
  ...wholeKeyWrite,
  surfaces: { rest: 'PATCH /api/teams/{team}', cli: 'update-team team' },
  input: z.object({
    team: teamInput,
    newName: teamNameField.optional(),
    displayName: clearable(displayNameField),
    description: clearable(teamDescriptionField),
    defaultVisibility: defaultVisibilityInput.optional(),
  }),
  output: teamRecord,
  async run(context: Needs<'teams'>, { team: name, newName, displayName, description, defaultVisibility }) {
    const team = await findTeam(context, name)
    const change = { name: newName, displayName: toCleared(displayName), description: toCleared(description), defaultVisibility }
    return toTeamRecord(await context.store.teams.changeTeam(toCaller(context.actor), team.id, change))
  },
})

export const deleteTeam = defineOperation({
  name: 'delete_team',
  title: 'Delete a team',
  summary: 'Delete a team you maintain. It must own nothing, not even in the trash. Its names are not given to others.',
  ...wholeKeyWrite,
  surfaces: { rest: 'DELETE /api/teams/{team}', cli: 'delete-team team' },
  input: z.object({ team: teamInput }),
  output: z.object({ success: z.literal(true), name: z.string() }),
  async run(context: Needs<'teams'>, { team: name }) {
    const team = await findTeam(context, name)
    await context.store.teams.deleteTeam(toCaller(context.actor), team.id)
    return { success: true as const, name: team.name }
  },
})

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
