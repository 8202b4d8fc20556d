import { type ExpressionBuilder, type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { OwnerForItems } from '../../domain/items/item-access.ts'
import type { DefaultVisibility } from '../../domain/items/visibility.ts'
import { rolesWith, TEAM_ROLES, type TeamRight, type TeamRole } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import { isOneOf, prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

/**
 * Row numbers of those over whose things a user has a right, as the right side of `in`: the user, and teams by the role in them. None for
 * null.
 */
export function ownersWith(right: TeamRight, userId: string | null) {
  const roles = rolesWith(right)
  const inRole = roles.length === TEAM_ROLES.length ? sql`` : sql`and team_member.role in (${sql.join(roles.map((role) => sql.lit(role)))})`
  return sql<number>`(select "user".seq from "user" where "user".id = ${userId}
    union all select team_member.team_seq from team_member join "user" on "user".seq = team_member.user_seq
    where "user".id = ${userId} ${inRole})`
}

/** Those whose private items a user sees. */
export function ownersSeenBy(userId: string | null) {
  return ownersWith('see', userId)
}

const roleOver = prepareQuery((db) =>
  db
    .selectFrom('team_member')
    .innerJoin('user as team', 'team.seq', 'team_member.team_seq')
    .innerJoin('user', 'user.seq', 'team_member.user_seq')
    .select('team_member.role')
    .where('user.id', '=', slot('userId'))
    .where('team.id', '=', slot('ownerId')),
)

/**
 * The role of a user over what an owner has: maintainer of their own things, or the role in the team; null for none. Read in the
 * transaction of a change, so that somebody who was removed meanwhile changes nothing: on both engines such transactions take turns.
 */
export async function findRole(db: Kysely<Database>, userId: string, ownerId: string): Promise<TeamRole | null> {
  if (userId === ownerId) return 'maintainer'
  const [member] = await roleOver(db, { userId, ownerId })
  return member?.role ?? null
}

export async function listMemberIds(db: Kysely<Database>, teamIds: readonly string[]): Promise<string[]> {
  const members = await db
    .selectFrom('team_member')
    .innerJoin('user as team', 'team.seq', 'team_member.team_seq')
    .innerJoin('user', 'user.seq', 'team_member.user_seq')
    .select('user.id')
    .where(isOneOf('team.id', teamIds))
    .execute()
  return members.map(({ id }) => id)
}

const selectOwners = (db: Kysely<Database>) =>
  db.selectFrom('user').select(['id', 'username', 'default_visibility', 'is_team']).where('removal', 'is', null)
const ownerById = prepareQuery((db) => selectOwners(db).where('id', '=', slot('id')))
const ownerByName = prepareQuery((db) =>
  selectOwners(db).where((eb) => eb.or([eb('username_key', '=', slot('key')), hadNameKey(eb, slot('key'))])),
)

/** An owner by id, or by name or a name that a team had before, when the user has a role over their things. */
export async function findOwner(
  db: Kysely<Database>,
  userId: string,
  asked: { readonly id: string } | { readonly name: string },
): Promise<OwnerForItems | null> {
  const [owner] = await ('id' in asked ? ownerById(db, { id: asked.id }) : ownerByName(db, { key: asked.name.toLowerCase() }))
  const role = owner && (await findRole(db, userId, owner.id))
  if (!owner || !role) return null
  return { id: owner.id, name: owner.username, role, isTeam: owner.is_team === 1, defaultVisibility: owner.default_visibility }
}

/** Whether a user of a query had this name before. */
export function hadName(eb: ExpressionBuilder<Database, 'user'>, name: string) {
  return hadNameKey(eb, name.toLowerCase())
}

function hadNameKey(eb: ExpressionBuilder<Database, 'user'>, key: string) {
  const former = eb.selectFrom('former_name').select('former_name.user_seq')
  return eb('user.seq', 'in', former.where('former_name.username_key', '=', key))
}

/** Row numbers of the users who have one of some names, or had it. */
export function selectNamed(db: Kysely<Database>, names: readonly string[]) {
  const keys = names.map((name) => name.toLowerCase())
  const former = db.selectFrom('former_name').select('former_name.user_seq').where(isOneOf('former_name.username_key', keys))
  return db
    .selectFrom('user')
    .select('user.seq')
    .where((eb) => eb.or([isOneOf('user.username_key', keys), eb('user.seq', 'in', former)]))
}

const userRow = prepareQuery((db) => db.selectFrom('user').select(['seq', 'username', 'removal']).where('id', '=', slot('id')))

/** The row number and the name of a user who can own and write. @throws AppError `not_found` */
export async function findUser(db: Kysely<Database>, id: string): Promise<{ readonly seq: number; readonly username: string }> {
  const [user] = await userRow(db, { id })
  if (user?.removal !== null) throw new AppError('not_found', 'This user does not exist.')
  return user
}

/** The row number of a user who can own and write. @throws AppError `not_found` */
export async function findUserSeq(db: Kysely<Database>, id: string): Promise<number> {
  return (await findUser(db, id)).seq
}

/** The row number of any user; 0, which no row has, for none. */
export async function seqOfUser(db: Kysely<Database>, id: string): Promise<number> {
  return (await userRow(db, { id }))[0]?.seq ?? 0
}

/** The holder of a name, now or earlier: of people, placeholders and teams, also of those that are gone and whose names stay reserved. */
async function findNameHolder(db: Kysely<Database>, name: string): Promise<{ seq: number; isTeam: boolean; username: string } | null> {
  const row = await db
    .selectFrom('user')
    .select(['seq', 'username', 'is_team'])
    .where((eb) => eb.or([eb('username_key', '=', name.toLowerCase()), hadName(eb, name)]))
    .executeTakeFirst()
  return row ? { seq: row.seq, isTeam: row.is_team === 1, username: row.username } : null
}

/** Writes a user with the default settings of a person. */
export async function insertUser(
  db: Kysely<Database>,
  user: Omit<Insertable<Database['user']>, 'username_key' | 'default_visibility'> & { readonly default_visibility?: DefaultVisibility },
): Promise<Selectable<Database['user']>> {
  return await db
    .insertInto('user')
    .values({ default_visibility: 'private', ...user, username_key: user.username.toLowerCase() })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Whether nobody has a name, or had it and keeps it: THE check of names of people, placeholders and teams. */
export async function isNameFree(db: Kysely<Database>, name: string, exceptSeq?: number): Promise<boolean> {
  const holder = await findNameHolder(db, name)
  return holder === null || holder.seq === exceptSeq
}

/** Whether a name is, or was, of a team. */
export async function isTeamName(db: Kysely<Database>, name: string): Promise<boolean> {
  return (await findNameHolder(db, name))?.isTeam ?? false
}

/** @param exceptSeq who may have the name already, or take it back @throws AppError `conflict` */
export async function requireFreeName(db: Kysely<Database>, name: string, path: string, exceptSeq?: number): Promise<void> {
  if (await isNameFree(db, name, exceptSeq)) return
  const message = `The name "${name}" is taken; choose another.`
  throw new AppError('conflict', message, { details: [{ path, message }] })
}
