import { z } from 'zod'
import type { Item } from '../../library/items.ts'
import type { Offer } from '../../library/ports/offers.ts'
import { requireRight } from '../../library/teams.ts'
import { defineOperation, type Needs, requireUser, type UserActor } from '../core/define-operation.ts'
import { collectionInput, kindOf, notFound, refInput } from '../core/inputs.ts'

const when = z.string().meta({ format: 'date-time' })

/** An offer, as both sides see it. */
export const offerRecord = z.object({
  id: z.string(),
  collection: z.enum(['prompts', 'skills']),
  itemId: z.string(),
  title: z.string(),
  from: z.string().describe('Name of the owner'),
  to: z.string().describe('Name of the user or team it is offered to'),
  offeredBy: z.string(),
  leaveOutPrivate: z.boolean().describe('Whether earlier private versions are deleted for good when it is accepted'),
  createdAt: when,
  expiresAt: when,
})

function toOfferRecord({ kind, leavesOutPrivate, ...offer }: Offer): z.infer<typeof offerRecord> {
  return { ...offer, collection: `${kind}s`, leaveOutPrivate: leavesOutPrivate }
}

const target = { collection: collectionInput, id: refInput.describe('Id or slug') }
const answered = z.object({ success: z.literal(true), offer: offerRecord })

/** An item that the caller sees. @throws AppError `not_found` */
async function findItem(
  { actor, store }: Needs<'items'>,
  { collection, id }: { collection: 'prompts' | 'skills'; id: string },
): Promise<Item> {
  const kind = kindOf(collection)
  const item = kind === 'prompt' ? await store.items.findPrompt(actor, id) : await store.items.findSkill(actor, id)
  if (!item) throw notFound(kind)
  return item
}

/** What a giver wants to know before. */
export const showOffer = defineOperation({
  name: 'show_offer',
  title: 'Show the offer of an item',
  summary: 'The open offer of an item you may transfer, and how many of its versions a new owner would see that were private.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: {
    rest: { method: 'GET', path: '/api/{collection}/{id}/offer' },
    cli: { command: 'show-offer', positional: ['collection', 'id'] },
  },
  input: z.object(target),
  output: z.object({
    itemId: z.string(),
    title: z.string(),
    versions: z.number().int(),
    privateVersions: z.number().int().describe('Earlier versions that were private when they were written'),
    offer: offerRecord.nullable(),
  }),
  async run(context: Needs<'items' | 'offers'>, input) {
    const kind = kindOf(input.collection)
    const { userId } = requireUser(context.actor)
    const { id: itemId, title, ownerId } = await findItem(context, input)
    requireRight(await context.store.items.findRole(userId, ownerId), 'transfer', `transfer this ${kind}`)
    const state = await context.store.offers.findOfferState(userId, kind, itemId)
    if (!state) throw notFound(kind)
    return { itemId, title, ...state, offer: state.offer ? toOfferRecord(state.offer) : null }
  },
})

export const offerItem = defineOperation({
  name: 'offer_item',
  title: 'Transfer an item',
  summary:
    'Offer an item you own, or of a team you maintain, to a user or team, who accepts it within 14 days. Where you maintain the team yourself, it goes over at once. Its addresses, versions and votes go along.',
  scope: 'write',
  needsWholeKey: true,
  writes: true,
  cost: 5,
  surfaces: {
    rest: { method: 'POST', path: '/api/{collection}/{id}/offer' },
    cli: { command: 'offer-item', positional: ['collection', 'id', 'to'] },
  },
  input: z.object({
    ...target,
    to: z.string().max(64).describe('Name of the user or team'),
    leaveOutPrivate: z
      .boolean()
      .default(false)
      .describe('Delete earlier versions that were private for good when it goes over; else the new owner sees them'),
  }),
  output: z.object({
    state: z.enum(['offered', 'transferred']),
    privateVersions: z.number().int().describe('Earlier versions that were private when they were written'),
    offer: offerRecord.nullable(),
  }),
  async run(context: Needs<'items' | 'offers'>, { to, leaveOutPrivate, ...input }) {
    const { userId } = requireUser(context.actor)
    const { offers } = context.store
    const kind = kindOf(input.collection)
    const { id } = await findItem(context, input)
    const state = await offers.findOfferState(userId, kind, id)
    const offer = await offers.offerItem(userId, kind, id, { to, leavesOutPrivate: leaveOutPrivate })
    return {
      state: offer ? ('offered' as const) : ('transferred' as const),
      privateVersions: state?.privateVersions ?? 0,
      offer: offer ? toOfferRecord(offer) : null,
    }
  },
})

export const listOffers = defineOperation({
  name: 'list_offers',
  title: 'List offers',
  summary: 'Items offered to you or to teams you maintain, and offers of yours or theirs that nobody has answered yet.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: { rest: { method: 'GET', path: '/api/offers' }, cli: { command: 'list-offers', positional: [] } },
  input: z.object({}),
  output: z.object({ incoming: z.array(offerRecord), outgoing: z.array(offerRecord) }),
  async run({ actor, store }: Needs<'offers'>) {
    const { incoming, outgoing } = await store.offers.listOffers(requireUser(actor).userId)
    return { incoming: incoming.map(toOfferRecord), outgoing: outgoing.map(toOfferRecord) }
  },
})

const offerInput = z.object({ id: z.string().max(255).describe('Id of the offer') })

async function answer(context: Needs<'offers'>, end: (user: UserActor) => Promise<Offer>): Promise<z.infer<typeof answered>> {
  return { success: true, offer: toOfferRecord(await end(requireUser(context.actor))) }
}

export const acceptOffer = defineOperation({
  name: 'accept_offer',
  title: 'Accept an offer',
  summary: 'Take an item that was offered to you, or to a team you maintain.',
  scope: 'write',
  needsWholeKey: true,
  writes: true,
  cost: 5,
  surfaces: { rest: { method: 'POST', path: '/api/offers/{id}/accept' }, cli: { command: 'accept-offer', positional: ['id'] } },
  input: offerInput,
  output: answered,
  run: (context: Needs<'offers'>, { id }) => answer(context, ({ userId }) => context.store.offers.acceptOffer(userId, id)),
})

export const declineOffer = defineOperation({
  name: 'decline_offer',
  title: 'Decline an offer',
  summary: 'Refuse an item that was offered to you, or to a team you maintain.',
  scope: 'write',
  needsWholeKey: true,
  writes: true,
  surfaces: { rest: { method: 'POST', path: '/api/offers/{id}/decline' }, cli: { command: 'decline-offer', positional: ['id'] } },
  input: offerInput,
  output: answered,
  run: (context: Needs<'offers'>, { id }) => answer(context, ({ userId }) => context.store.offers.declineOffer(userId, id)),
})

export const withdrawOffer = defineOperation({
  name: 'withdraw_offer',
  title: 'Withdraw an offer',
  summary: 'Take back an offer of an item you own, or of a team you maintain.',
  scope: 'write',
  needsWholeKey: true,
  writes: true,
  surfaces: { rest: { method: 'DELETE', path: '/api/offers/{id}' }, cli: { command: 'withdraw-offer', positional: ['id'] } },
  input: offerInput,
  output: answered,
  run: (context: Needs<'offers'>, { id }) => answer(context, ({ userId }) => context.store.offers.withdrawOffer(userId, id)),
})
