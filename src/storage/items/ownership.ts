import type { Kysely } from 'kysely'
import { visibilityFor } from '../../domain/items/item-access.ts'
import type { ItemKind } from '../../domain/items/items.ts'
import { audienceOf, type Visibility } from '../../domain/items/visibility.ts'
import { requireRight } from '../../domain/people/teams.ts'
import { NO_QUOTA, type OwnerQuota } from '../../domain/people/usage.ts'
import { AppError } from '../../errors.ts'
import { forgetFilings, touchItems } from '../change-log.ts'
import { findOwner, findRole, findUserSeq } from '../people/user-rows.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { markSweepDue } from '../service.ts'
import { dropGatedLabels } from './item-labels.ts'
import type { WriteNotes } from './item-parts.ts'
import { countRows, findLiveRow, type ItemRow } from './item-rows.ts'
import { dropTakenNames } from './named-prompts.ts'
import { moveUsage } from './owner-usage.ts'
import { purgeStore } from './purges.ts'
import type { WriteContext } from './write-context.ts'
import { writeItems } from './write-items.ts'

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
async function changeOwner(
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

/** Transfers of items between owners. */
export function ownershipStore(reader: Kysely<Database>, context: WriteContext) {
  /** Deletes what the giver leaves out, versions as `purgeVersions` does: a backup does not bring them back. */
  const leaveOut = async (db: Kysely<Database>, notes: WriteNotes, item: ItemRow, userId: string): Promise<void> => {
    const purges = purgeStore(db, { ...context, reader: db, transact: (work) => work(db, notes), sweep: async () => false })
    const hidden = await selectPrivateVersions(db, item.id).select('version.number').execute()
    for (const { number } of hidden) await purges.purgeVersions(item.kind, item.id, userId, { first: number, last: number })
    if ((await forgetFilings(db, item.seq, 'private')) > 0) await markSweepDue(db, context.now())
  }
  const makePrivate = async (db: Kysely<Database>, notes: WriteNotes, { kind, id }: ItemRow, userId: string): Promise<void> => {
    const items = writeItems({ ...context, reader: db, transact: (work) => work(db, notes) })
    await items.changeItem(kind, id, { userId, note: null }, () => ({ visibility: 'private' }))
  }
  return {
    /** How many versions an item has, and how many earlier ones were private when they were written. */
    async countVersions(itemId: string): Promise<{ readonly versions: number; readonly privateVersions: number }> {
      return {
        versions: await countRows(selectVersions(reader, itemId)),
        privateVersions: await countRows(selectPrivateVersions(reader, itemId)),
      }
    },
    /**
     * Gives an item by id to a team that the user edits for, or to the user. Both rights are read in the transaction of the change.
     * @param wanted.makesPrivate whether it may become private, where the user may not show it to others in the receiving team
     * @returns its new owner by name, and who else sees it now
     * @throws AppError `not_found`, `forbidden`, `conflict` (it is there already, it would become private), `too_large`
     */
    async transferItem(
      userId: string,
      kind: ItemKind,
      id: string,
      {
        to: name,
        leavesOutPrivate,
        makesPrivate,
      }: { readonly to: string; readonly leavesOutPrivate: boolean; readonly makesPrivate: boolean },
    ): Promise<{ readonly owner: string; readonly visibility: Visibility }> {
      const given = await context.transact(async (db, notes) => {
        const item = await findLiveRow(db, id, kind)
        if (!item) throw new AppError('not_found', `This ${kind} is not there any more.`)
        requireRight(await findRole(db, userId, item.owner_id), 'transfer', `transfer this ${kind}`)
        const to = await findOwner(db, userId, { name })
        if (!to) {
          throw new AppError(
            'not_found',
            `You are in no team named "${name.slice(0, 80)}". An item goes to a team that you edit for, or from a team to yourself.`,
          )
        }
        if (to.id === item.owner_id) throw new AppError('conflict', `This ${kind} belongs to ${to.name} already.`)
        requireRight(to.role, 'edit', `give it a ${kind}`)
        const visibility = visibilityFor(to, item.visibility)
        if (visibility !== item.visibility && !makesPrivate) {
          throw new AppError(
            'conflict',
            `This ${kind} is ${item.visibility}, and you may not publish for ${to.name}: it would become private. Allow that with makePrivate.`,
          )
        }
        if (leavesOutPrivate) await leaveOut(db, notes, item, userId)
        if (visibility !== item.visibility) await makePrivate(db, notes, item, userId)
        const receiver = { id: to.id, seq: await findUserSeq(db, to.id) }
        await changeOwner(db, notes, [{ seq: item.seq, kind, visibility }], { id: item.owner_id }, receiver, {
          quota: context.quota,
          at: context.now(),
        })
        notes.audit({ action: 'item_given', targetId: id, ownerId: item.owner_id, detail: { kind } })
        notes.audit({ action: 'item_received', targetId: id, ownerId: to.id, detail: { kind } })
        return { owner: to.name, visibility }
      })
      if (leavesOutPrivate) await context.sweep().catch(() => false)
      return given
    },
  }
}

function selectVersions(db: Kysely<Database>, itemId: string) {
  return db.selectFrom('version').innerJoin('item', 'item.seq', 'version.item_seq').where('item.id', '=', itemId)
}

/** Earlier versions that were private when they were written. */
function selectPrivateVersions(db: Kysely<Database>, itemId: string) {
  return selectVersions(db, itemId).where('version.visibility', '=', 'private').whereRef('version.number', '<', 'item.version')
}
