import { type Kysely, type Selectable, sql } from 'kysely'
import type { SearchResult } from '../../domain/items/search.ts'
import type { ListedTeam, Team, TeamCaller, TeamChange, TeamMember } from '../../domain/people/people.ts'
import { MAX_FORMER_NAMES, requireRight, type TeamRole, teamNotFound } from '../../domain/people/teams.ts'
import type { AuditField } from '../../domain/service/audit.ts'
import { AppError } from '../../errors.ts'
import { removeCollectionsOf } from '../collections/write-collections.ts'
import { countRows, readPage } from '../items/item-rows.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { endNarrowedKeys } from './keys.ts'
import {
  activeMaintainers,
  countMembers,
  putMember,
  refuseManyTeams,
  requireAccount,
  requireAppointing,
  requireManaged,
  requireOtherMaintainer,
  requireTeam,
  selectMembers,
  selectTeams,
  toMember,
  toTeam,
} from './team-rows.ts'
import { findRole, hadName, insertUser, isTeamName, requireFreeName, seqOfUser } from './user-rows.ts'

/** Maintainers that a row of the administrators' list names. */
const NAMED_MAINTAINERS = 5
const CHANGED_FIELDS = ['displayName', 'description', 'defaultVisibility'] as const satisfies readonly AuditField[]

/** Part of a name, as a pattern. */
const containing = (matching: string) => `%${matching.toLowerCase().replace(/[%_]/g, '')}%`

/** Teams and their members. */
export function teamStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** By a name of now or of earlier, in any case. */
    async findTeam(name: string): Promise<Team | null> {
      const row = await selectTeams(reader)
        .where((eb) => eb.or([eb('user.username_key', '=', name.toLowerCase()), hadName(eb, name)]))
        .executeTakeFirst()
      return row ? toTeam(row) : null
    },
    /** Whether a team has the name, or had it, also one that was deleted. */
    hasTeamName: (name: string): Promise<boolean> => isTeamName(reader, name),
    async findTeamRole(userId: string, teamId: string): Promise<TeamRole | null> {
      return userId === teamId ? null : await findRole(reader, userId, teamId)
    },
    /** Those that somebody is in, by name: at most MAX_TEAMS. */
    async listTeamsOf(userId: string): Promise<readonly (Team & { readonly role: TeamRole })[]> {
      const rows = await selectTeams(reader)
        .innerJoin('team_member', 'team_member.team_seq', 'user.seq')
        .innerJoin('user as member', 'member.seq', 'team_member.user_seq')
        .select('team_member.role as team_role')
        .where('member.id', '=', userId)
        .orderBy('user.username_key')
        .execute()
      return rows.map((row) => ({ ...toTeam(row), role: row.team_role }))
    },
    /** Maintainers first, then editors, by name. `matching`: part of a name. */
    async listMembers(
      teamId: string,
      { matching, ...page }: { limit: number; offset: number; matching?: string | undefined },
    ): Promise<SearchResult<TeamMember>> {
      const members = selectMembers(reader)
        .where('team_member.team_seq', '=', await seqOfUser(reader, teamId))
        .orderBy(sql`case team_member.role when 'maintainer' then 0 when 'editor' then 1 else 2 end`)
        .orderBy('user.username_key')
      const found = matching === undefined ? members : members.where('user.username_key', 'like', containing(matching))
      const { rows, total } = await readPage(found, page)
      return { items: rows.map(toMember), total }
    },
    /** Names of accounts that could be added, in order; people whose account cannot act, and members, are left out. */
    async listCandidates(teamId: string, limit: number): Promise<readonly string[]> {
      const team = await selectTeams(reader).where('user.id', '=', teamId).executeTakeFirst()
      const members = reader.selectFrom('team_member').select('user_seq')
      const rows = await reader
        .selectFrom('user')
        .select('username')
        .where('is_team', '=', 0)
        .where('contributor_key', 'is', null)
        .where('removal', 'is', null)
        .where('suspended_at', 'is', null)
        .where('seq', 'not in', members.where('team_seq', '=', team?.seq ?? 0))
        .orderBy('username_key')
        .limit(limit)
        .execute()
      return rows.map(({ username }) => username)
    },
    async countMembers(teamId: string): Promise<number> {
      const team = await selectTeams(reader).where('user.id', '=', teamId).executeTakeFirst()
      return team ? await countMembers(reader, team.seq) : 0
    },
    /** Lets groups fill a team that a group map names. @throws AppError `not_found` */
    bindTeam: (name: string): Promise<void> =>
      context.transact(async (db, notes) => {
        const team = await db
          .updateTable('user')
          .set({ filled_by_groups: 'bound' })
          .where('is_team', '=', 1)
          .where('username_key', '=', name.toLowerCase())
          .returning('id')
          .executeTakeFirst()
        if (!team) throw new AppError('not_found', 'Team not found.')
        notes.audit({ action: 'team_changed', targetId: team.id, ownerId: team.id, detail: { byGroup: true } })
      }),
    /** All teams, by name. `isOrphaned`: only those without a maintainer whose account can act. */
    async listTeams({
      matching,
      isOrphaned = false,
      ...page
    }: {
      limit: number
      offset: number
      matching: string | null
      isOrphaned?: boolean
    }): Promise<SearchResult<ListedTeam>> {
      const named = matching === null ? selectTeams(reader) : selectTeams(reader).where('user.username_key', 'like', containing(matching))
      const found = isOrphaned
        ? named.where((eb) => eb.not(eb.exists(activeMaintainers(reader).where('team_member.team_seq', '=', eb.ref('user.seq')))))
        : named
      const teams = found
        .select(sql<number>`(select count(*) from team_member where team_member.team_seq = "user".seq)`.as('members'))
        .select(sql<number>`(select count(*) from item where item.owner_seq = "user".seq)`.as('items'))
        .orderBy('user.username_key')
      const { rows, total } = await readPage(teams, page)
      const items = []
      for (const row of rows) {
        const maintainers = await activeMaintainers(reader)
          .where('team_member.team_seq', '=', row.seq)
          .orderBy('maintainer.username_key')
          .limit(NAMED_MAINTAINERS)
          .execute()
        const names = maintainers.map(({ username }) => username)
        items.push({
          ...toTeam(row),
          members: Number(row.members),
          items: Number(row.items),
          maintainers: names,
          isAsked: row.filled_by_groups === 'asked',
        })
      }
      return { items, total }
    },
    /**
     * @param team.maintainer a username; default: the caller
     * @throws AppError `conflict` for a taken name and at MAX_TEAMS, `forbidden` where others than administrators name somebody else
     */
    createTeam: (
      caller: TeamCaller,
      {
        name,
        displayName,
        description,
        defaultVisibility,
        maintainer: named,
      }: Pick<Team, 'name' | 'displayName' | 'description' | 'defaultVisibility'> & { readonly maintainer?: string | undefined },
    ): Promise<Team> =>
      context.transact(async (db, notes) => {
        const self = await db.selectFrom('user').select('username').where('id', '=', caller.userId).executeTakeFirst()
        const username = named ?? self?.username
        if (username === undefined) throw new AppError('invalid_input', 'maintainer is required: say who maintains the team.')
        const maintainer = await requireAccount(db, username)
        if (maintainer.id !== caller.userId && !caller.isAdmin) {
          throw new AppError('forbidden', 'Only administrators create teams for others. Create it, then make them its maintainer.')
        }
        if (maintainer.suspended_at !== null) throw new AppError('conflict', `The account of ${maintainer.username} is suspended.`)
        await refuseManyTeams(db, maintainer)
        await requireFreeName(db, name, 'name')
        const at = context.now()
        const said = { default_visibility: defaultVisibility, display_name: displayName, bio: description }
        const team = await insertUser(db, { id: context.random.id(), username: name, created_at: at, ...said, is_team: 1 })
        await db
          .insertInto('team_member')
          .values({ team_seq: team.seq, user_seq: maintainer.seq, role: 'maintainer', joined_at: at })
          .execute()
        notes.audit({ action: 'team_created', targetId: team.id, ownerId: team.id })
        notes.audit({
          action: 'team_member_added',
          targetId: maintainer.id,
          ownerId: team.id,
          detail: { teamRole: 'maintainer' },
        })
        return toTeam(team)
      }),
    /** A new name leaves the old one, which leads to the team. @throws AppError `conflict` for a taken name */
    changeTeam: (caller: TeamCaller, teamId: string, change: TeamChange): Promise<Team> =>
      context.transact(async (db, notes) => {
        const before = await requireManaged(db, caller, teamId, 'change the team')
        if (change.name !== undefined && change.name !== before.username) await renameTeam(db, before, change.name)
        const row = await db
          .updateTable('user')
          .set({
            display_name: change.displayName,
            bio: change.description,
            default_visibility: change.defaultVisibility,
            id: teamId,
          })
          .where('id', '=', teamId)
          .returningAll()
          .executeTakeFirstOrThrow()
        const [was, is] = [toTeam(before), toTeam(row)]
        const fields = CHANGED_FIELDS.filter((field) => was[field] !== is[field])
        if (was.name !== is.name) notes.audit({ action: 'team_renamed', targetId: teamId, ownerId: teamId })
        if (fields.length > 0) notes.audit({ action: 'team_changed', targetId: teamId, ownerId: teamId, detail: { fields } })
        return is
      }),
    /** Adds a member, or changes the role of one. @throws AppError `not_found` (no account), `conflict` (the last maintainer, limits) */
    setMember: (caller: TeamCaller, teamId: string, username: string, role: TeamRole): Promise<TeamMember> =>
      context.transact(async (db, notes) => {
        const team = await requireTeam(db, teamId)
        await requireAppointing(db, caller, team, username, role)
        const person = await requireAccount(db, username)
        const read = () =>
          selectMembers(db).where('team_member.team_seq', '=', team.seq).where('team_member.user_seq', '=', person.seq).executeTakeFirst()
        const member = await read()
        if (member?.role === role) return toMember(member)
        if (person.suspended_at !== null && (!member || role === 'maintainer')) {
          throw new AppError('conflict', `The account of ${person.username} is suspended.`)
        }
        await putMember(db, team, person, member, { role, joined_at: context.now() })
        const action = member ? 'team_member_role_changed' : 'team_member_added'
        notes.audit({ action, targetId: person.id, ownerId: teamId, detail: { teamRole: role } })
        return toMember((await read()) ?? failToRead())
      }),
    /** Everybody may remove themselves. @throws AppError `not_found`, `conflict` for the last maintainer */
    removeMember: (caller: TeamCaller, teamId: string, username: string): Promise<void> =>
      context.transact(async (db, notes) => {
        const team = await requireTeam(db, teamId)
        const own = await findRole(db, caller.userId, teamId)
        if (own === null) throw teamNotFound()
        const member = await selectMembers(db)
          .where('team_member.team_seq', '=', team.seq)
          .where('user.username_key', '=', username.toLowerCase())
          .executeTakeFirst()
        if (member?.userId !== caller.userId) requireRight(own, 'manage', 'remove members')
        if (!member) throw new AppError('not_found', `"${username.slice(0, 80)}" is not in the team.`)
        if (member.role === 'maintainer') await requireOtherMaintainer(db, team.seq, member.seq)
        await db.deleteFrom('team_member').where('team_seq', '=', team.seq).where('user_seq', '=', member.seq).execute()
        await endNarrowedKeys(db, notes, teamId, member.userId, context.now())
        notes.audit({ action: 'team_member_removed', targetId: member.userId, ownerId: teamId })
      }),
    /** Its names stay taken. @throws AppError `conflict` while it owns items */
    deleteTeam: (caller: TeamCaller, teamId: string): Promise<void> =>
      context.transact(async (db, notes) => {
        const team = await requireManaged(db, caller, teamId, 'delete the team')
        const owned = await db
          .selectFrom('item')
          .select((eb) => [eb.fn.countAll<number>().as('n'), eb.fn.count<number>('deleted_at').as('in_trash')])
          .where('owner_seq', '=', team.seq)
          .executeTakeFirstOrThrow()
        if (Number(owned.n) > 0) {
          throw new AppError(
            'conflict',
            `The team owns ${owned.n} ${Number(owned.n) === 1 ? 'item' : 'items'}, ${owned.in_trash} of them in the trash. Transfer them, or delete them for good, first.`,
          )
        }
        await endNarrowedKeys(db, notes, teamId, null, context.now())
        await markDeleted(db, team.seq, context.now())
        notes.audit({ action: 'team_deleted', targetId: teamId, ownerId: teamId })
      }),
  }
}

function failToRead(): never {
  throw new AppError('internal', 'A member that was just written could not be read back')
}

/** Ends a team, and its collections. The row stays, so that its names are given to nobody else. */
export async function markDeleted(db: Kysely<Database>, teamSeq: number, at: string): Promise<void> {
  await db.deleteFrom('team_member').where('team_seq', '=', teamSeq).execute()
  await removeCollectionsOf(db, teamSeq)
  await db
    .updateTable('user')
    .set({ suspended_at: at, display_name: null, bio: null, default_visibility: 'private' })
    .where('seq', '=', teamSeq)
    .execute()
}

/** The earlier name stays and leads to the team, which may take it back. @throws AppError `conflict` */
async function renameTeam(db: Kysely<Database>, team: Selectable<Database['user']>, name: string): Promise<void> {
  const key = name.toLowerCase()
  await requireFreeName(db, name, 'name', team.seq)
  if (key !== team.username_key) {
    await db.deleteFrom('former_name').where('username_key', '=', key).execute()
    const n = await countRows(db.selectFrom('former_name').where('user_seq', '=', team.seq))
    if (n >= MAX_FORMER_NAMES) {
      throw new AppError('conflict', `The team has had ${MAX_FORMER_NAMES + 1} names, the most there can be. Take back one of them.`)
    }
    await db.insertInto('former_name').values({ username_key: team.username_key, user_seq: team.seq }).execute()
  }
  await db.updateTable('user').set({ username: name, username_key: key }).where('seq', '=', team.seq).execute()
}
