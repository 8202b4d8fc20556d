import type { Kysely } from 'kysely'
import type { ItemKind } from '../../domain/items/items.ts'
import { audienceOf, type Visibility } from '../../domain/items/visibility.ts'
import { NO_QUOTA, type OwnerQuota } from '../../domain/people/quota.ts'
import { touchItems } from '../change-log.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { dropGatedLabels } from './item-labels.ts'
import type { WriteNotes } from './item-parts.ts'
import { dropTakenNames } from './named-prompts.ts'
import { moveUsage } from './owner-usage.ts'

interface Owner {
  readonly seq: number
  readonly id: string
}

interface GivenItem {
  readonly seq: number
  readonly kind: ItemKind
  readonly visibility: Visibility
}

/**
 * Gives items to another owner, with their addresses, versions and votes. The caller checks the right to do so,
 * and records it.
 * Labels with a gate of the next owner's are removed.
 * @throws AppError `too_large` where the next owner has no room for them
 */
export async function changeOwner(
  db: Kysely<Database>,
  notes: WriteNotes,
  items: readonly GivenItem[],
  from: Pick<Owner, 'id'>,
  to: Owner,
  { quota, at }: { readonly quota: OwnerQuota; readonly at: string },
): Promise<void> {
  for (const part of batches(items.map(({ seq }) => seq))) {
    await moveUsage(db, part, to.seq, quota)
    await db.updateTable('item').set({ owner_seq: to.seq }).where('seq', 'in', part).execute()
    await dropTakenNames(db, part)
    // Who accepted a finding did so for their own items.
    await db.deleteFrom('waiver').where('item_seq', 'in', part).execute()
    // The next owner may be stricter.
    await db.updateTable('verdict').set({ rule_set: 0 }).where('item_seq', 'in', part).execute()
    await dropGatedLabels(db, part, to.seq, at)
    await touchItems(db, part)
  }
  for (const kind of new Set(items.map((item) => item.kind))) {
    const audience = audienceOf(...items.filter((item) => item.kind === kind).map(({ visibility }) => visibility))
    for (const { id } of [from, to]) notes.changed({ kind, ownerId: id, audience })
  }
}

/** Gives everything that somebody owns, the trash included. @returns how much, and whether any of it was ever public */
export async function handOver(
  db: Kysely<Database>,
  notes: WriteNotes,
  from: Owner,
  to: Owner,
  at: string,
): Promise<{ readonly count: number; readonly hadPublic: boolean }> {
  const items = await db.selectFrom('item').select(['seq', 'kind', 'visibility', 'was_public']).where('owner_seq', '=', from.seq).execute()
  // Who leaves can always leave.
  await changeOwner(db, notes, items, from, to, { quota: NO_QUOTA, at })
  return { count: items.length, hadPublic: items.some((item) => item.was_public === 1) }
}
