import type { Kysely } from 'kysely'
import type { Grants } from '../../domain/people/groups.ts'
import type { Person } from '../../domain/people/people.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { Database } from '../schema.ts'
import { refuseWithoutAdmin, revokeInvitesOf } from './invites.ts'
import { endNarrowedKeys } from './keys.ts'
import { insertUser, isNameFree } from './names.ts'
import { hadName } from './team-roles.ts'
import { putMember, requireOtherMaintainer } from './team-rows.ts'

/** Somebody whose rights follow their groups. */
interface Granted {
  readonly person: Person & { readonly seq: number }
  /** The source of the groups. */
  readonly provider: string
  readonly grants: Grants
  readonly at: string
  makeId(): string
}

/** Whether rights changed, and which could not, as sentences for the log. */
interface Outcome {
  hasNewRights: boolean
  readonly skipped: string[]
}

/**
 * Gives and takes the rights that groups decide about. Memberships and roles that somebody here or another provider gave stay as they are.
 * A team never loses its last maintainer this way, and the library not its last administrator.
 */
export async function applyGrants(db: Kysely<Database>, notes: WriteNotes, granted: Granted): Promise<Outcome> {
  const outcome: Outcome = { hasNewRights: false, skipped: [] }
  const { grants } = granted
  const given = new Set<number>()
  for (const [name, role] of grants.teams) {
    const { team, fault } = await reserveTeam(db, notes, name, granted)
    if (fault !== null) outcome.skipped.push(fault)
    // Two names of one team: the first counts.
    if (!team || given.has(team.seq)) continue
    given.add(team.seq)
    await attempt(outcome, () => giveRole(db, notes, granted, team, role))
  }
  for (const name of grants.decidesTeams) {
    const team = await findTeamRow(db, name)
    if (team && !given.has(team.seq)) await attempt(outcome, () => takeRole(db, notes, granted, team))
  }
  await attempt(outcome, () => applyAdmin(db, notes, granted))
  return outcome
}

/**
 * The team of a name in a group map, made where nobody has the name. One that somebody here made is not filled before an administrator allows
 * it: its maintainers would get what the group's members save.
 */
export async function reserveTeam(
  db: Kysely<Database>,
  notes: WriteNotes,
  name: string,
  making: Pick<Granted, 'at' | 'makeId'>,
): Promise<{ readonly team: TeamRow | null; readonly fault: string | null }> {
  const found = await findTeamRow(db, name)
  if (found?.filled_by_groups === 'bound') return { team: found, fault: null }
  if (!found) {
    const team = await createTeamRow(db, notes, making, name)
    return { team, fault: team ? null : `The team "${name}" of the group map cannot be created: the name is taken.` }
  }
  if (found.filled_by_groups === null)
    await db.updateTable('user').set({ filled_by_groups: 'asked' }).where('seq', '=', found.seq).execute()
  const fault = `The team "${name}" of the group map was made by somebody here, and is not filled before an administrator allows it: Administration, Teams.`
  return { team: null, fault }
}

/** Notes a change, or why there was none. */
async function attempt(outcome: Outcome, change: () => Promise<boolean>): Promise<void> {
  try {
    if (await change()) outcome.hasNewRights = true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    outcome.skipped.push(error.message)
  }
}

interface TeamRow {
  readonly seq: number
  readonly id: string
  readonly filled_by_groups: 'bound' | 'asked' | null
}

async function findTeamRow(db: Kysely<Database>, name: string): Promise<TeamRow | undefined> {
  return await db
    .selectFrom('user')
    .select(['user.seq', 'user.id', 'user.filled_by_groups'])
    .where('user.is_team', '=', 1)
    .where('user.suspended_at', 'is', null)
    .where((eb) => eb.or([eb('user.username_key', '=', name.toLowerCase()), hadName(eb, name)]))
    .executeTakeFirst()
}

/** Null when somebody has the name. */
async function createTeamRow(
  db: Kysely<Database>,
  notes: WriteNotes,
  { at, makeId }: Pick<Granted, 'at' | 'makeId'>,
  name: string,
): Promise<TeamRow | null> {
  if (!(await isNameFree(db, name))) return null
  const team = await insertUser(db, { id: makeId(), username: name, created_at: at, is_team: 1, filled_by_groups: 'bound' })
  notes.audit({ action: 'team_created', targetId: team.id, ownerId: team.id, detail: { byGroup: true } })
  return team
}

async function findMembership(db: Kysely<Database>, team: TeamRow, { person }: Granted) {
  return await db
    .selectFrom('team_member')
    .select(['role', 'given_by'])
    .where('team_seq', '=', team.seq)
    .where('user_seq', '=', person.seq)
    .executeTakeFirst()
}

async function giveRole(db: Kysely<Database>, notes: WriteNotes, granted: Granted, team: TeamRow, role: TeamRole): Promise<boolean> {
  const { person, provider, at } = granted
  const member = await findMembership(db, team, granted)
  if (member && (member.given_by !== provider || member.role === role)) return false
  await putMember(db, team, person, member, { role, joined_at: at, given_by: provider })
  const action = member ? 'team_member_role_changed' : 'team_member_added'
  notes.audit({ action, targetId: person.id, ownerId: team.id, detail: { teamRole: role, byGroup: true } })
  return true
}

async function takeRole(db: Kysely<Database>, notes: WriteNotes, granted: Granted, team: TeamRow): Promise<boolean> {
  const { person, provider, at } = granted
  const member = await findMembership(db, team, granted)
  if (member?.given_by !== provider) return false
  if (member.role === 'maintainer') await requireOtherMaintainer(db, team.seq, person.seq)
  await db.deleteFrom('team_member').where('team_seq', '=', team.seq).where('user_seq', '=', person.seq).execute()
  await endNarrowedKeys(db, notes, team.id, person.id, at)
  notes.audit({ action: 'team_member_removed', targetId: person.id, ownerId: team.id, detail: { byGroup: true } })
  return true
}

async function applyAdmin(db: Kysely<Database>, notes: WriteNotes, { person, provider, grants, at }: Granted): Promise<boolean> {
  const { id } = person
  if (grants.isAdmin) {
    if (person.role === 'admin') return false
    await db.updateTable('user').set({ role: 'admin', role_given_by: provider }).where('id', '=', id).execute()
  } else {
    if (!grants.decidesAdmin || person.role !== 'admin') return false
    const row = await db.selectFrom('user').select('role_given_by').where('id', '=', id).executeTakeFirst()
    if (row?.role_given_by !== provider) return false
    await refuseWithoutAdmin(db, id)
    await db.updateTable('user').set({ role: 'user', role_given_by: null }).where('id', '=', id).execute()
    await revokeInvitesOf(db, notes, person, at)
  }
  notes.audit({ action: 'role_changed', targetId: id, ownerId: id, detail: { role: grants.isAdmin ? 'admin' : 'user', byGroup: true } })
  return true
}
