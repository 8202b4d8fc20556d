import type { Insertable, Kysely, Selectable } from 'kysely'
import type { DefaultVisibility } from '../../domain/items/visibility.ts'
import { AppError } from '../../errors.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { hadName } from './team-roles.ts'

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
