import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import type { ItemKind } from '../../library/items.ts'
import type { Offer, OfferStore } from '../../library/ports/offers.ts'
import { hasRight, MAX_OFFERS, OFFER_DAYS, requireRight } from '../../library/teams.ts'
import { requireReceiver } from '../people/receivers.ts'
import { findRole, ownersWith } from '../people/team-roles.ts'
import type { Database } from '../schema.ts'
import { markSweepDue } from '../sweep.ts'
import { changeOwner } from './change-owner.ts'
import type { WriteNotes } from './item-parts.ts'
import { type ItemRow, selectItems } from './item-rows.ts'
import { purgeStore } from './purges.ts'
import { forgetFilings } from './shared-changes.ts'
import type { WriteContext } from './write-context.ts'

const DAY_MS = 86_400_000
const MAX_LISTED = 200

function selectOffers(db: Kysely<Database>) {
  return db
    .selectFrom('item_offer')
    .innerJoin('item', 'item.seq', 'item_offer.item_seq')
    .innerJoin('user as giver', 'giver.seq', 'item.owner_seq')
    .innerJoin('user as receiver', 'receiver.seq', 'item_offer.to_seq')
    .innerJoin('user as person', 'person.seq', 'item_offer.by_seq')
    .select([
      'item_offer.id',
      'item_offer.leaves_out_private',
      'item_offer.created_at',
      'item_offer.expires_at',
      'item.id as item_id',
      'item.seq as item_seq',
      'item.kind',
      'item.title',
      'item.version',
      'item.visibility',
      'item.deleted_at',
      'giver.id as from_id',
      'giver.username as from_name',
      'receiver.id as to_id',
      'receiver.seq as to_seq',
      'receiver.username as to_name',
      'person.id as by_id',
      'person.username as by_name',
    ])
}
type OfferRow = Awaited<ReturnType<ReturnType<typeof selectOffers>['executeTakeFirstOrThrow']>>

function toOffer(row: OfferRow): Offer {
  return {
    id: row.id,
    kind: row.kind,
    itemId: row.item_id,
    title: row.title,
    from: row.from_name,
    to: row.to_name,
    offeredBy: row.by_name,
    leavesOutPrivate: row.leaves_out_private === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}

const offerNotFound = () =>
  new AppError('not_found', 'Offer not found. It was accepted, declined or withdrawn, has expired, or the item was deleted for good.')

async function findItem(db: Kysely<Database>, kind: ItemKind, id: string): Promise<ItemRow | undefined> {
  return await selectItems(db)
    .where('item.kind', '=', kind)
    .where('item.id', '=', id)
    .where('item.deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Numbers of earlier versions that were private when they were written. */
async function listPrivateVersions(db: Kysely<Database>, item: { readonly seq: number; readonly version: number }): Promise<number[]> {
  const rows = await db
    .selectFrom('version')
    .select('number')
    .where('item_seq', '=', item.seq)
    .where('visibility', '=', 'private')
    .where('number', '<', item.version)
    .execute()
  return rows.map(({ number }) => number)
}

/** Transfers of items between owners. */
export function offerStore(reader: Kysely<Database>, context: WriteContext): OfferStore {
  const now = () => new Date(context.clock()).toISOString()
  /** Deletes what the giver leaves out, versions as `purgeVersions` does: a backup does not bring them back. */
  const leaveOut = async (db: Kysely<Database>, notes: WriteNotes, item: ItemRow, userId: string): Promise<void> => {
    const purges = purgeStore(db, { ...context, reader: db, transact: (work) => work(db, notes), sweep: async () => false })
    for (const number of await listPrivateVersions(db, item)) {
      await purges.purgeVersions(item.kind, item.id, userId, { first: number, last: number })
    }
    if ((await forgetFilings(db, item.seq, 'private')) > 0) await markSweepDue(db, now())
  }
  const give = async (
    db: Kysely<Database>,
    notes: WriteNotes,
    item: ItemRow,
    to: { readonly seq: number; readonly id: string },
    offer: { readonly byId: string; readonly leavesOutPrivate: boolean },
  ): Promise<void> => {
    if (offer.leavesOutPrivate) await leaveOut(db, notes, item, offer.byId)
    await changeOwner(db, notes, [item], { id: item.owner_id }, to, context.quota)
    notes.audit({ action: 'item_given', targetId: item.id, ownerId: item.owner_id, detail: { kind: item.kind } })
    notes.audit({ action: 'item_received', targetId: item.id, ownerId: to.id, detail: { kind: item.kind } })
  }
  /** The offer, while it can be answered. @throws AppError `not_found` */
  const requireOffer = async (db: Kysely<Database>, offerId: string): Promise<OfferRow> => {
    const row = await selectOffers(db).where('item_offer.id', '=', offerId).where('item_offer.expires_at', '>', now()).executeTakeFirst()
    if (!row) throw offerNotFound()
    return row
  }
  /** Ends an offer without a transfer. */
  const end = (userId: string, offerId: string, side: 'from_id' | 'to_id', action: 'item_offer_declined' | 'item_offer_withdrawn') =>
    context.transact(async (db, notes) => {
      const row = await requireOffer(db, offerId)
      if (!hasRight(await findRole(db, userId, row[side]), 'transfer')) throw offerNotFound()
      await db.deleteFrom('item_offer').where('id', '=', offerId).execute()
      notes.audit({ action, targetId: row.item_id, ownerId: row.from_id, detail: { kind: row.kind } })
      return toOffer(row)
    })
  return {
    async findOfferState(userId, kind, id) {
      const item = await findItem(reader, kind, id)
      if (!item || !hasRight(await findRole(reader, userId, item.owner_id), 'transfer')) return null
      const { versions } = await reader
        .selectFrom('version')
        .select((eb) => eb.fn.countAll<number>().as('versions'))
        .where('item_seq', '=', item.seq)
        .executeTakeFirstOrThrow()
      const offer = await selectOffers(reader)
        .where('item_offer.item_seq', '=', item.seq)
        .where('item_offer.expires_at', '>', now())
        .executeTakeFirst()
      const privateVersions = (await listPrivateVersions(reader, item)).length
      return { versions: Number(versions), privateVersions, offer: offer ? toOffer(offer) : null }
    },
    async offerItem(userId, kind, id, { to: name, leavesOutPrivate }) {
      const offer = await context.transact(async (db, notes) => {
        const item = await findItem(db, kind, id)
        if (!item) throw new AppError('not_found', `This ${kind} is not there any more.`)
        requireRight(await findRole(db, userId, item.owner_id), 'transfer', `transfer this ${kind}`)
        const to = await requireReceiver(db, userId, name)
        if (to.id === item.owner_id) throw new AppError('conflict', `This ${kind} belongs to ${to.username} already.`)
        if (hasRight(await findRole(db, userId, to.id), 'transfer')) {
          await give(db, notes, item, to, { byId: userId, leavesOutPrivate })
          return null
        }
        await db
          .deleteFrom('item_offer')
          .where((eb) => eb.or([eb('expires_at', '<=', now()), eb('item_seq', '=', item.seq)]))
          .execute()
        const { open } = await db
          .selectFrom('item_offer')
          .innerJoin('item', 'item.seq', 'item_offer.item_seq')
          .select((eb) => eb.fn.countAll<number>().as('open'))
          .where('item.owner_seq', '=', item.owner_seq)
          .executeTakeFirstOrThrow()
        if (Number(open) >= MAX_OFFERS) {
          throw new AppError('conflict', `There are ${MAX_OFFERS} open offers already, the most there can be. Withdraw one first.`)
        }
        const offerId = context.random.id()
        const { seq: bySeq } = await db.selectFrom('user').select('seq').where('id', '=', userId).executeTakeFirstOrThrow()
        await db
          .insertInto('item_offer')
          .values({
            id: offerId,
            item_seq: item.seq,
            to_seq: to.seq,
            by_seq: bySeq,
            leaves_out_private: leavesOutPrivate ? 1 : 0,
            created_at: now(),
            expires_at: new Date(context.clock() + OFFER_DAYS * DAY_MS).toISOString(),
          })
          .execute()
        notes.audit({ action: 'item_offered', targetId: item.id, ownerId: item.owner_id, detail: { kind } })
        return toOffer(await requireOffer(db, offerId))
      })
      if (offer === null && leavesOutPrivate) await context.sweep().catch(() => false)
      return offer
    },
    async listOffers(userId) {
      const owners = ownersWith('transfer', userId)
      const open = () =>
        selectOffers(reader)
          .where('item_offer.expires_at', '>', now())
          .where('item.deleted_at', 'is', null)
          .orderBy('item_offer.seq', 'desc')
          .limit(MAX_LISTED)
      const incoming = await open().where('item_offer.to_seq', 'in', owners).execute()
      const outgoing = await open().where('item.owner_seq', 'in', owners).execute()
      return { incoming: incoming.map(toOffer), outgoing: outgoing.map(toOffer) }
    },
    async acceptOffer(userId, offerId) {
      const offer = await context.transact(async (db, notes) => {
        const row = await requireOffer(db, offerId)
        if (!hasRight(await findRole(db, userId, row.to_id), 'transfer')) throw offerNotFound()
        const item = await findItem(db, row.kind, row.item_id)
        if (!item) throw new AppError('conflict', `The ${row.kind} is in the trash of ${row.from_name}, who must restore it first.`)
        if (!hasRight(await findRole(db, row.by_id, row.from_id), 'transfer')) {
          throw new AppError(
            'conflict',
            `${row.by_name} made the offer and may not give items of ${row.from_name} any more. Ask for a new one.`,
          )
        }
        const leavesOutPrivate = row.leaves_out_private === 1
        await give(db, notes, item, { seq: row.to_seq, id: row.to_id }, { byId: row.by_id, leavesOutPrivate })
        return toOffer(row)
      })
      if (offer.leavesOutPrivate) await context.sweep().catch(() => false)
      return offer
    },
    declineOffer: (userId, offerId) => end(userId, offerId, 'to_id', 'item_offer_declined'),
    withdrawOffer: (userId, offerId) => end(userId, offerId, 'from_id', 'item_offer_withdrawn'),
  }
}
