import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import { hasRight } from '../../library/teams.ts'
import { handOver } from '../items/change-owner.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { Database } from '../schema.ts'
import { requireReceiver } from './receivers.ts'
import { findRole } from './team-roles.ts'

/** To whom the items of somebody who is being removed go, and which administrator says so; null: the person themselves. */
export interface HandOver {
  readonly to: string
  readonly adminId: string | null
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
  const to = await requireReceiver(db, adminId === null ? person.id : null, name)
  if (to.id === person.id) throw new AppError('conflict', 'Hand the items to somebody else than their owner.')
  if (adminId === null && !hasRight(await findRole(db, person.id, to.id), 'transfer')) {
    throw new AppError(
      'forbidden',
      `Items are handed to a team that you maintain. Offer them to ${to.username} instead, and delete the account when they were accepted.`,
    )
  }
  if (adminId !== null && (await findRole(db, adminId, to.id)) !== null) {
    throw new AppError(
      'forbidden',
      'An administrator may not hand items to themselves or to a team they are in: that would show them private items.',
    )
  }
  const { seq } = await db.selectFrom('user').select('seq').where('id', '=', person.id).executeTakeFirstOrThrow()
  const { count, hadPublic } = await handOver(db, notes, { seq, id: person.id }, to)
  if (count > 0) notes.audit({ action: 'items_handed_over', targetId: person.id, ownerId: to.id, detail: { created: count } })
  return { count, hadPublic }
}
