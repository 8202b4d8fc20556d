import type { InferResult, Kysely, Selectable } from 'kysely'
import type { Team, TeamCaller, TeamMember } from '../../domain/people/people.ts'
import { hasRight, MAX_TEAM_MEMBERS, MAX_TEAMS, requireRight, type TeamRole, teamNotFound } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import { countRows } from '../items/item-rows.ts'
import type { Database } from '../schema.ts'
import { findRole } from './user-rows.ts'

export function toTeam(row: Selectable<Database['user']>): Team {
  return {
    id: row.id,
    name: row.username,
    displayName: row.display_name,
    description: row.bio,
    defaultVisibility: row.default_visibility,
    createdAt: row.created_at,
  }
}

/** Teams that were not deleted. */
export function selectTeams(db: Kysely<Database>) {
  return db.selectFrom('user').selectAll('user').where('user.is_team', '=', 1).where('user.suspended_at', 'is', null)
}

/** @throws AppError `not_found` */
export async function requireTeam(db: Kysely<Database>, teamId: string): Promise<Selectable<Database['user']>> {
  const row = await selectTeams(db).where('user.id', '=', teamId).executeTakeFirst()
  if (!row) throw teamNotFound()
  return row
}

/** The team, where the caller manages it. @throws AppError `not_found` for others than members, `forbidden` */
export async function requireManaged(db: Kysely<Database>, caller: TeamCaller, teamId: string, what: string) {
  const team = await requireTeam(db, teamId)
  const role = await findRole(db, caller.userId, teamId)
  if (role === null) throw teamNotFound()
  requireRight(role, 'manage', what)
  return team
}

/** The account of a name that can be a member. @throws AppError `not_found`, `conflict` */
export async function requireAccount(db: Kysely<Database>, username: string): Promise<Selectable<Database['user']>> {
  const row = await db
    .selectFrom('user')
    .selectAll()
    .where('username_key', '=', username.toLowerCase())
    .where('removal', 'is', null)
    .executeTakeFirst()
  // A team is told apart from nobody by its members alone.
  if (!row || row.is_team === 1) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
  if (row.contributor_key !== null) {
    throw new AppError('conflict', `"${row.username}" is an imported author without an account, and cannot be a member of a team.`)
  }
  return row
}

export async function countMembers(db: Kysely<Database>, teamSeq: number): Promise<number> {
  return await countRows(db.selectFrom('team_member').where('team_seq', '=', teamSeq))
}

/** @throws AppError `conflict` for somebody who is in as many teams as one may be */
export async function refuseManyTeams(db: Kysely<Database>, user: { readonly seq: number; readonly username: string }): Promise<void> {
  const n = await countRows(db.selectFrom('team_member').where('user_seq', '=', user.seq))
  if (n >= MAX_TEAMS) throw new AppError('conflict', `${user.username} is in ${MAX_TEAMS} teams, the most there can be.`)
}

/** @throws AppError `conflict` for a team with as many members as one may have */
async function refuseManyMembers(db: Kysely<Database>, teamSeq: number): Promise<void> {
  if ((await countMembers(db, teamSeq)) < MAX_TEAM_MEMBERS) return
  throw new AppError('conflict', `The team has ${MAX_TEAM_MEMBERS.toLocaleString('en')} members, the most there can be.`)
}

export function selectMembers(db: Kysely<Database>) {
  return db
    .selectFrom('team_member')
    .innerJoin('user', 'user.seq', 'team_member.user_seq')
    .select([
      'user.id as userId',
      'user.seq',
      'user.username',
      'user.display_name as displayName',
      'team_member.role',
      'team_member.joined_at as joinedAt',
      'user.suspended_at',
    ])
}

export function toMember({
  seq: _,
  suspended_at: suspendedAt,
  ...member
}: InferResult<ReturnType<typeof selectMembers>>[number]): TeamMember {
  return { ...member, isSuspended: suspendedAt !== null }
}

/**
 * Lets maintainers set any role, and administrators make somebody else maintainer of an orphaned team.
 * @throws AppError `not_found`, `forbidden`
 */
export async function requireAppointing(
  db: Kysely<Database>,
  caller: TeamCaller,
  team: Selectable<Database['user']>,
  username: string,
  role: TeamRole,
): Promise<void> {
  const own = await findRole(db, caller.userId, team.id)
  if (hasRight(own, 'manage')) return
  if (!caller.isAdmin) {
    if (own === null) throw teamNotFound()
    requireRight(own, 'manage', 'manage its members')
  }
  const maintainer = await activeMaintainers(db).where('team_member.team_seq', '=', team.seq).limit(1).executeTakeFirst()
  if (maintainer) {
    throw new AppError('forbidden', `The team has a maintainer, ${maintainer.username}; only a maintainer can manage its members.`)
  }
  if (role !== 'maintainer') throw new AppError('forbidden', 'The team has no maintainer. An administrator may only appoint one.')
  const self = await db.selectFrom('user').select('username_key').where('id', '=', caller.userId).executeTakeFirst()
  if (self?.username_key === username.toLowerCase()) {
    throw new AppError('forbidden', 'An administrator may not appoint themselves: that would show them private items of the team.')
  }
}

/**
 * Adds somebody to a team, or changes the role of a member.
 * @throws AppError `conflict` for the last maintainer, and where the team or the person has as many as there can be
 */
export async function putMember(
  db: Kysely<Database>,
  team: { readonly seq: number },
  person: { readonly seq: number; readonly username: string },
  member: { readonly role: TeamRole } | undefined,
  row: { readonly role: TeamRole; readonly joined_at: string; readonly given_by?: string },
): Promise<void> {
  if (member) {
    if (member.role === 'maintainer') await requireOtherMaintainer(db, team.seq, person.seq)
    const { role } = row
    await db.updateTable('team_member').set({ role }).where('team_seq', '=', team.seq).where('user_seq', '=', person.seq).execute()
    return
  }
  await refuseManyTeams(db, person)
  await refuseManyMembers(db, team.seq)
  await db
    .insertInto('team_member')
    .values({ team_seq: team.seq, user_seq: person.seq, ...row })
    .execute()
}

/** Maintainers whose accounts can act. A team without one is orphaned. */
export function activeMaintainers(db: Kysely<Database>) {
  return db
    .selectFrom('team_member')
    .innerJoin('user as maintainer', 'maintainer.seq', 'team_member.user_seq')
    .select('maintainer.username')
    .where('team_member.role', '=', 'maintainer')
    .where('maintainer.suspended_at', 'is', null)
    .where('maintainer.removal', 'is', null)
}

/** Whether a team has a maintainer whose account can act, besides one person. */
export async function hasOtherMaintainer(db: Kysely<Database>, teamSeq: number, userSeq: number): Promise<boolean> {
  const others = activeMaintainers(db).where('team_member.team_seq', '=', teamSeq).where('maintainer.seq', '<>', userSeq)
  return (await others.limit(1).executeTakeFirst()) !== undefined
}

/** @throws AppError `conflict` when nobody could manage the team without this person */
export async function requireOtherMaintainer(db: Kysely<Database>, teamSeq: number, userSeq: number): Promise<void> {
  if (await hasOtherMaintainer(db, teamSeq, userSeq)) return
  throw new AppError('conflict', 'This is the last maintainer of the team. Make somebody else a maintainer first.')
}
