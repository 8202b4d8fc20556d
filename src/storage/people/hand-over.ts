import type { Kysely } from 'kysely'
import { hasRight } from '../../domain/people/teams.ts'
import { AppError } from '../../errors.ts'
import { handOver } from '../items/change-owner.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { Database } from '../schema.ts'
import { findUserSeq } from './names.ts'
import { findOwner, findRole, hadName } from './team-roles.ts'

/** To whom the items of somebody who is being removed go, and which administrator says so; null: the person themselves. */
export interface HandOver {
  readonly to: string
  readonly adminId: string | null
}

interface Receiver {
  readonly seq: number
  readonly id: string
}

/**
 * The possible receiver of items that an administrator hands over, by its name or, for a team, a former name.
 * @throws AppError `not_found`, `conflict`
 */
async function requireReceiver(db: Kysely<Database>, name: string): Promise<Receiver> {
  const row = await db
    .selectFrom('user')
    .select(['seq', 'id', 'username', 'is_team', 'suspended_at', 'contributor_key'])
    .where((eb) => eb.or([eb('username_key', '=', name.toLowerCase()), hadName(eb, name)]))
    .where('removal', 'is', null)
    .executeTakeFirst()
  // A team that was deleted is none.
  if (!row || (row.is_team === 1 && row.suspended_at !== null)) {
    throw new AppError('not_found', `There is no user or team named "${name.slice(0, 80)}".`)
  }
  if (row.contributor_key !== null) {
    throw new AppError('conflict', `"${row.username}" is an imported author without an account, and cannot own items.`)
  }
  if (row.suspended_at !== null) throw new AppError('conflict', `The account of ${row.username} is suspended.`)
  return { seq: row.seq, id: row.id }
}

/** A team that somebody maintains. @throws AppError `forbidden` */
async function requireMaintained(db: Kysely<Database>, userId: string, name: string): Promise<Receiver> {
  const owner = await findOwner(db, userId, { name })
  if (!owner || !hasRight(owner.role, 'transfer')) {
    throw new AppError(
      'forbidden',
      `You maintain no team named "${name.slice(0, 80)}". Transfer items to teams that you edit for one by one first, or ask an administrator to hand them over.`,
    )
  }
  return { id: owner.id, seq: await findUserSeq(db, owner.id) }
}

/**
 * Gives all items of a person who is suspended or being removed to another owner. A person gives them to a team they maintain; an administrator to
 * anybody, but not where that would show them private items.
 * @returns how many they were, and whether any of them was ever public
 * @throws AppError `not_found`, `forbidden`, `conflict`
 */
export async function handOverItems(
  db: Kysely<Database>,
  notes: WriteNotes,
  person: { readonly id: string },
  { to: name, adminId }: HandOver,
): Promise<{ readonly count: number; readonly hadPublic: boolean }> {
  const to = adminId === null ? await requireMaintained(db, person.id, name) : await requireReceiver(db, name)
  if (to.id === person.id) throw new AppError('conflict', 'Hand the items to somebody else than their owner.')
  if (adminId !== null && (await findRole(db, adminId, to.id)) !== null) {
    throw new AppError(
      'forbidden',
      'An administrator may not hand items to themselves or to a team they are in: that would show them private items.',
    )
  }
  const seq = await findUserSeq(db, person.id)
  const { count, hadPublic } = await handOver(db, notes, { seq, id: person.id }, to)
  if (count > 0) notes.audit({ action: 'items_handed_over', targetId: person.id, ownerId: to.id, detail: { created: count } })
  return { count, hadPublic }
}
