import { z } from 'zod'
import { visibilityFor } from '../../domain/items/owners.ts'
import { visibilitySchema } from '../../domain/items/visibility.ts'
import { hasRight, requireRight } from '../../domain/people/teams.ts'
import { defineOperation, wholeKeyWrite } from '../core/define-operation.ts'
import { itemTarget, kindOf, requireItem } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'

/** The effects of a transfer, shown before it. */
export const showTransfer = defineOperation({
  name: 'show_transfer',
  title: 'Show what a transfer changes',
  summary: 'Show who can receive an item, who else would then see it, and how many private versions the new owner would see.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: { rest: 'GET /api/{collection}/{id}/transfer', cli: 'show-transfer collection id' },
  input: z.object(itemTarget),
  output: z.object({
    itemId: z.string(),
    title: z.string(),
    visibility: visibilitySchema,
    versions: z.number().int(),
    privateVersions: z.number().int().describe('Earlier versions that were private when they were written'),
    receivers: z
      .array(z.object({ name: z.string(), visibility: visibilitySchema.describe('Who else sees the item there') }))
      .describe('Teams you edit for; yourself, for an item of a team'),
  }),
  async run(context: Needs<'items' | 'ownership' | 'teams'>, input) {
    const { store } = context
    const { userId, username } = requireUser(context.actor)
    const { id: itemId, title, ownerId, visibility } = await requireItem(context, input)
    requireRight(await store.items.findRole(userId, ownerId), 'transfer', `transfer this ${kindOf(input.collection)}`)
    const teams = (await store.teams.listTeamsOf(userId)).filter(({ id, role }) => id !== ownerId && hasRight(role, 'edit'))
    const receivers = teams.map((team) => ({ name: team.name, visibility: visibilityFor(team, visibility) }))
    if (ownerId !== userId) receivers.unshift({ name: username, visibility })
    return { itemId, title, visibility, receivers, ...(await store.ownership.countVersions(itemId)) }
  },
})

export const transferItem = defineOperation({
  name: 'transfer_item',
  title: 'Transfer an item',
  summary:
    'Give an item you own to a team you edit for, or take one out of a team you maintain, for yourself or another team. Its addresses, versions and votes go along.',
  ...wholeKeyWrite,
  cost: 5,
  surfaces: { rest: 'POST /api/{collection}/{id}/transfer', cli: 'transfer-item collection id to' },
  input: z.object({
    ...itemTarget,
    to: z.string().max(64).describe('Name of the team, or your own'),
    leaveOutPrivate: z
      .boolean()
      .default(false)
      .describe('Delete earlier versions that were private for good; else the new owner sees them'),
    makePrivate: z.boolean().default(false).describe('Make it private where you may not publish for the team; else that is refused'),
  }),
  output: z.object({ success: z.literal(true), owner: z.string(), visibility: visibilitySchema }),
  async run(context: Needs<'items' | 'ownership'>, { to, leaveOutPrivate, makePrivate, ...input }) {
    const { userId } = requireUser(context.actor)
    const { id } = await requireItem(context, input)
    const wanted = { to, leavesOutPrivate: leaveOutPrivate, makesPrivate: makePrivate }
    return { success: true as const, ...(await context.store.ownership.transferItem(userId, kindOf(input.collection), id, wanted)) }
  },
})
