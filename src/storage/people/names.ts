import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Database } from '../schema.ts'
import { hadName } from './team-roles.ts'

/** The holder of a name, now or earlier: of people, placeholders and teams, also of those that are gone and whose names stay reserved. */
async function findNameHolder(db: Kysely<Database>, name: string): Promise<{ seq: number; isTeam: boolean; username: string } | null> {
  const row = await db
    .selectFrom('user')
    .select(['seq', 'username', 'is_team'])
    .where((eb) => eb.or([eb('username_key', '=', name.toLowerCase()), hadName(eb, name)]))
    .executeTakeFirst()
  return row ? { seq: row.seq, isTeam: row.is_team === 1, username: row.username } : null
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
