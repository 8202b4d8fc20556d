import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import { othersMaySee } from '../../library/visibility.ts'
import { isOneOf } from '../is-one-of.ts'
import type { Database } from '../schema.ts'
import { findRole, hadName } from './team-roles.ts'

/** Somebody who can own items: a person whose account can act, or a team. */
interface Receiver {
  readonly seq: number
  readonly id: string
  readonly username: string
  readonly isTeam: boolean
}

/** Whether somebody is in a team, or sees something of it. */
async function isKnownTeam(
  db: Kysely<Database>,
  userId: string | null,
  team: { readonly id: string; readonly seq: number },
): Promise<boolean> {
  if (userId === null || (await findRole(db, userId, team.id)) !== null) return true
  const open = db
    .selectFrom('item')
    .select('seq')
    .where('owner_seq', '=', team.seq)
    .where('deleted_at', 'is', null)
    .where(isOneOf('visibility', othersMaySee('member', 'list')))
  return (await open.limit(1).executeTakeFirst()) !== undefined
}

/**
 * Whom items can be given to, by a name of now or, of a team, of earlier.
 * @param callerId null: an administrator, who knows every team
 * @throws AppError `not_found`, `conflict`
 */
export async function requireReceiver(db: Kysely<Database>, callerId: string | null, name: string): Promise<Receiver> {
  const row = await db
    .selectFrom('user')
    .select(['seq', 'id', 'username', 'is_team', 'suspended_at', 'contributor_key'])
    .where((eb) => eb.or([eb('username_key', '=', name.toLowerCase()), hadName(eb, name)]))
    .where('removal', 'is', null)
    .executeTakeFirst()
  // A team that was deleted is none. An earlier name says the present one only to those who know the team.
  const isNow = row?.username.toLowerCase() === name.toLowerCase()
  if (!row || (row.is_team === 1 && (row.suspended_at !== null || !(isNow || (await isKnownTeam(db, callerId, row)))))) {
    throw new AppError('not_found', `There is no user or team named "${name.slice(0, 80)}".`)
  }
  if (row.contributor_key !== null) {
    throw new AppError('conflict', `"${row.username}" is an imported author without an account, and cannot own items.`)
  }
  if (row.suspended_at !== null) throw new AppError('conflict', `The account of ${row.username} is suspended.`)
  return { seq: row.seq, id: row.id, username: row.username, isTeam: row.is_team === 1 }
}
