import { z } from 'zod'
import type { Item } from '../../domain/items/items.ts'
import { AppError } from '../../errors.ts'
import { defineOperation, itemWrite, wholeKeyWrite } from '../core/define-operation.ts'
import { itemTarget, kindOf, notFound, pageInputs, pageOutputs, requireEditable, requireItem, toLimits, toPage } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'

const input = z.object(itemTarget)
const output = z.object({ success: z.literal(true), id: z.string(), slug: z.string(), title: z.string() })

/** Moves an item that `ref` named to the trash. @throws AppError `not_found`, `forbidden` */
export async function trashItem({ actor, store }: Needs<'items'>, item: Item, ref: string) {
  const user = requireUser(actor)
  requireEditable(user, item, await store.items.findRole(user.userId, item.ownerId), ref, { right: 'delete' })
  const deleted = await store.items.setDeleted(item.kind, item.id, user.userId, true)
  if (!deleted) throw notFound(item.kind)
  return deleted
}

export const deleteItem = defineOperation({
  name: 'delete_item',
  title: 'Delete a prompt or skill',
  summary: 'Move an item you own to the trash, where only its owners see it. It can be restored; its slug is never reused.',
  ...itemWrite,
  surfaces: { rest: 'DELETE /api/{collection}/{id}', cli: 'delete collection id' },
  input,
  output,
  async run(context: Needs<'items'>, { collection, id }) {
    return { success: true as const, ...(await trashItem(context, await requireItem(context, { collection, id }), id)) }
  },
})

export const restoreItem = defineOperation({
  name: 'restore_item',
  title: 'Restore from the trash',
  summary: 'Restore a deleted item you own, or of a team in which you are an editor.',
  ...wholeKeyWrite,
  cost: 5,
  surfaces: { rest: 'POST /api/{collection}/{id}/restore', cli: 'restore collection id' },
  input,
  output,
  async run(context: Needs<'items'>, { collection, id }) {
    const user = requireUser(context.actor)
    // The trash is as private as private items are.
    const restored = user.scopes.has('read') ? await context.store.items.setDeleted(kindOf(collection), id, user.userId, false) : null
    if (!restored) throw new AppError('not_found', `No item with this id or slug is in your trash.`)
    return { success: true as const, ...restored }
  },
})

export const listTrash = defineOperation({
  name: 'list_trash',
  title: 'List the trash',
  summary: 'Your deleted prompts and skills, most recent first.',
  scope: 'read',
  needsWholeKey: true,
  surfaces: { rest: 'GET /api/trash', cli: 'list-trash' },
  input: z.object(pageInputs),
  output: z.object({
    items: z.array(z.object({ id: z.string(), kind: z.enum(['prompt', 'skill']), title: z.string(), deletedAt: z.string() })),
    ...pageOutputs,
  }),
  async run({ actor, store }: Needs<'items'>, { page, perPage }) {
    const { items, total } = await store.items.listTrash(requireUser(actor).userId, { ...toLimits({ page, perPage }) })
    return { items: [...items], ...toPage({ page, perPage }, total) }
  },
})
