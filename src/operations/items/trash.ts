import { z } from 'zod'
import { versionNumber } from '../../domain/items/fields.ts'
import type { Item } from '../../domain/items/items.ts'
import { isVisible } from '../../domain/items/visibility.ts'
import { hasRight } from '../../domain/people/teams.ts'
import type { LibraryCopy } from '../../domain/service/transfer.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { defineOperation, itemWrite, wholeKeyWrite } from '../core/define-operation.ts'
import {
  itemTarget,
  kindOf,
  notFound,
  pageInputs,
  pageOutputs,
  refInput,
  requireEditable,
  requireItem,
  toLimits,
  toPage,
} from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'

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

type Collection = 'prompts' | 'skills'

/** The item that this caller may delete for good: one they see and own, one in their trash, and for administrators one they see. */
async function findPurgeable(context: Needs<'items' | 'purges'>, collection: Collection, ref: string) {
  const { actor, store } = context
  const user = requireUser(actor)
  const item = await store.items.findItem(actor, kindOf(collection), ref)
  if (item) {
    const isOwner = hasRight(await store.items.findRole(user.userId, item.ownerId), 'delete')
    if (!isOwner && !user.scopes.has('admin')) {
      throw new AppError('forbidden', `Only the owner and administrators can delete this ${item.kind} for good.`)
    }
    const hasEarlierTags = isOwner && (await store.items.findLastChange(item.id))?.before?.version === item.version
    return { id: item.id, title: item.title, version: item.version, hasEarlierTags, isOwner, isInTrash: false }
  }
  const deleted = await store.purges.findDeleted(kindOf(collection), ref, user.userId)
  if (!deleted) throw notFound(kindOf(collection))
  return { ...deleted, version: null, hasEarlierTags: false, isOwner: true, isInTrash: true }
}

/** Files on the service's machine that may still contain the deleted data. */
function countCopies(copies: readonly LibraryCopy[]) {
  const of = (kind: LibraryCopy['kind']) => copies.filter((copy) => copy.kind === kind).length
  return { backups: of('backup'), upgrades: of('upgrade'), replaced: of('replaced') }
}

/** Show what of an item can be deleted for good, and which copies of the library may still contain it. */
export const showPurge = defineProcedure({
  scope: 'account',
  input: z.object(itemTarget),
  async run(context: Needs<'items' | 'purges', 'listCopies'>, { collection, id }) {
    return { ...(await findPurgeable(context, collection, id)), copies: countCopies(context.listCopies()) }
  },
})

/** Delete a prompt or skill with all versions, votes and files for good. Only its id is kept; its slug is never reused. */
export const purgeItem = defineWrite({
  scope: 'account',
  input: z.object(itemTarget),
  async run(context: Needs<'items' | 'purges', 'listCopies'>, { collection, id: ref }) {
    const user = requireUser(context.actor)
    const { id } = await findPurgeable(context, collection, ref)
    const isPurged = await context.store.purges.purgeItem(
      kindOf(collection),
      id,
      user.userId,
      (item, role) => hasRight(role, 'delete') || (user.scopes.has('admin') && isVisible(user, item, role, 'id')),
    )
    if (!isPurged) throw notFound(kindOf(collection))
    return { id, copies: countCopies(context.listCopies()) }
  },
})

/** Delete older versions of an item you own for good, from first to last. */
export const purgeVersions = defineWrite({
  scope: 'account',
  input: z.object({ ...itemTarget, first: versionNumber, last: versionNumber }),
  async run(context: Needs<'items' | 'purges', 'listCopies'>, { collection, id: ref, first, last }) {
    if (last < first) throw invalidInput('last', 'last must not be less than first.')
    const user = requireUser(context.actor)
    const { id } = await findPurgeable(context, collection, ref)
    const removed = await context.store.purges.purgeVersions(kindOf(collection), id, user.userId, { first, last })
    if (removed === null)
      throw new AppError('forbidden', 'Only the owner can change the history of an item, and not while it is in the trash.')
    if (removed === 0) throw new AppError('not_found', `No versions from ${first} to ${last} found.`)
    return { removed, copies: countCopies(context.listCopies()) }
  },
})

/** Delete older contents of a file of a skill you own for good. The newest version keeps its content: change or remove that first. */
export const purgeFile = defineWrite({
  scope: 'account',
  input: z.object({ id: refInput.describe('Id or slug'), filename: z.string().min(1).max(255) }),
  async run(context: Needs<'items' | 'purges', 'listCopies'>, { id: ref, filename }) {
    const user = requireUser(context.actor)
    const { id } = await findPurgeable(context, 'skills', ref)
    const removed = await context.store.purges.purgeFile(id, user.userId, filename)
    if (removed === null)
      throw new AppError('forbidden', 'Only the owner can change the history of a skill, and not while it is in the trash.')
    if (removed === 0) throw new AppError('not_found', 'No older version has a file of this name with different content.')
    return { removed, copies: countCopies(context.listCopies()) }
  },
})
