import { z } from 'zod'
import type { Item } from '../../domain/items/items.ts'
import { AppError } from '../../errors.ts'
import { defineOperation } from '../core/define-operation.ts'
import { collectionInput, itemTarget, kindOf, notFound, pageInputs, pageOutputs, refInput, toLimits, toPage } from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { itemUrl, toItemLists } from '../core/records.ts'

/** Favourites of one person. */
const MAX_FAVOURITES = 5_000

const item = z.object(itemTarget)
/** Common to operations that mark an item. */
const marking = { scope: 'write', cost: 5, input: item } as const
const markedItem = z.object({ success: z.literal(true), id: z.string(), favourite: z.boolean() })

async function setFavourite({ actor, store }: Needs<'marks'>, { collection, id }: z.infer<typeof item>, favourite: boolean) {
  const kind = kindOf(collection)
  const marked = await store.marks.setFavourite(actor, kind, id, requireUser(actor).userId, favourite, MAX_FAVOURITES)
  if (!marked) throw notFound(kind)
  if (marked === 'full') {
    const most = MAX_FAVOURITES.toLocaleString('en')
    throw new AppError('conflict', `You already have ${most} favourites, the most there can be. Remove some first.`)
  }
  return { success: true as const, id: marked.id, favourite }
}

export const favourite = defineOperation({
  name: 'favourite',
  title: 'Mark a favourite',
  summary: 'Mark an item you can see as a favourite. Only you can see your favourites.',
  ...marking,
  surfaces: { rest: 'PUT /api/{collection}/{id}/favourite', cli: 'favourite collection id' },
  output: markedItem,
  run: (context, target) => setFavourite(context, target, true),
})

export const removeFavourite = defineOperation({
  name: 'remove_favourite',
  title: 'Remove a favourite',
  summary: 'Remove an item from your favourites, even if you can no longer see it.',
  ...marking,
  surfaces: { rest: 'DELETE /api/{collection}/{id}/favourite', cli: 'remove-favourite collection id' },
  output: markedItem,
  run: (context, target) => setFavourite(context, target, false),
})

const texts = { slug: z.string(), title: z.string(), author: z.string(), url: z.string() }
const favouriteRecord = z.object({ id: z.string(), kind: z.enum(['prompt', 'skill']), ...texts })

export const listFavourites = defineOperation({
  name: 'list_favourites',
  title: 'List your favourites',
  summary: 'Your favourite prompts and skills, most recent first; items you can no longer see are left out.',
  scope: 'read',
  cost: 3,
  surfaces: { rest: 'GET /api/favourites', cli: 'list-favourites' },
  input: z.object(pageInputs),
  output: z.object({
    items: z.array(favouriteRecord),
    ...pageOutputs,
  }),
  async run({ actor, store, baseUrl }: Needs<'marks', 'baseUrl'>, page) {
    const limits = { kind: null, ...toLimits(page) }
    const { items, total } = await store.marks.listFavourites(actor, requireUser(actor).userId, limits)
    const toRecord = (one: Item) => {
      const { id, kind, slug, title, author } = one
      return { id, kind, slug, title, author, url: itemUrl(baseUrl, kind, one) }
    }
    return { items: items.map(toRecord), ...toPage(page, total) }
  },
})

/** Your favourite prompts or skills as lists show them, the last marked first. */
export const browseFavourites = defineProcedure({
  scope: 'account',
  input: z.object({ ...pageInputs, collection: collectionInput }),
  async run({ actor, store, baseUrl }: Needs<'marks', 'baseUrl'>, input) {
    const limits = { kind: kindOf(input.collection), ...toLimits(input) }
    const { items, total } = await store.marks.listFavourites(actor, requireUser(actor).userId, limits)
    return { ...toItemLists(items, baseUrl), ...toPage(input, total) }
  },
})

/** The most items that one page lists. */
const MAX_SHOWN = 200

/** The favourites among the items of a list. */
export const findFavourites = defineProcedure({
  scope: 'account',
  input: z.object({ ids: z.array(refInput).max(MAX_SHOWN) }),
  async run({ actor, store }: Needs<'marks'>, { ids }) {
    return { ids: [...(await store.marks.findFavourites(actor, requireUser(actor).userId, ids))] }
  },
})

const votedItem = z.object({ success: z.literal(true), id: z.string(), votes: z.number().int(), voted: z.boolean() })

async function setVote({ actor, store }: Needs<'marks'>, { collection, id }: z.infer<typeof item>, voted: boolean) {
  const kind = kindOf(collection)
  const counted = await store.marks.setVote(actor, kind, id, requireUser(actor).userId, voted)
  if (!counted) throw notFound(kind)
  return { success: true as const, ...counted, voted }
}

export const vote = defineOperation({
  name: 'vote',
  title: 'Vote for a prompt or skill',
  summary: 'Vote for an item you can see, once; voting again changes nothing.',
  ...marking,
  surfaces: { rest: 'PUT /api/{collection}/{id}/vote', cli: 'vote collection id' },
  output: votedItem,
  run: (context, target) => setVote(context, target, true),
})

export const removeVote = defineOperation({
  name: 'remove_vote',
  title: 'Remove a vote',
  summary: 'Remove your vote from an item.',
  ...marking,
  surfaces: { rest: 'DELETE /api/{collection}/{id}/vote', cli: 'remove-vote collection id' },
  output: votedItem,
  run: (context, target) => setVote(context, target, false),
})

/** Items on the first page. */
const MAX_FEATURED = 12

async function requireMarks({ actor, store }: Needs<'marks'>, { collection, id }: z.infer<typeof item>) {
  const marks = await store.marks.findMarks(actor, kindOf(collection), id)
  if (!marks) throw notFound(kindOf(collection))
  return marks
}

/** The signed-in reader's relation to an item. */
export const showMarks = defineProcedure({
  scope: 'account',
  input: z.object({ collection: collectionInput, id: refInput }),
  async run(context: Needs<'marks'>, input) {
    return { ...(await requireMarks(context, input)) }
  },
})

/** The public items featured on the home page. */
export const listFeatured = defineProcedure({
  scope: null,
  input: z.object({ limit: z.number().int().min(1).max(MAX_FEATURED).default(6) }),
  async run({ store, baseUrl }: Needs<'marks', 'baseUrl'>, { limit }) {
    return toItemLists(await store.marks.listFeatured(limit), baseUrl)
  },
})

/** Feature a public item on the home page, or stop featuring it. */
export const setFeatured = defineWrite({
  scope: 'admin',
  input: z.object({ collection: collectionInput, id: refInput, isFeatured: z.boolean() }),
  async run(context: Needs<'marks'>, { isFeatured, ...input }) {
    const kind = kindOf(input.collection)
    const { id } = await requireMarks(context, input)
    if (!(await context.store.marks.setFeatured(kind, id, isFeatured))) throw notFound(kind)
  },
})

/** Make a public item unlisted so that its owner cannot undo it, or undo that. */
export const setHeld = defineWrite({
  scope: 'admin',
  input: z.object({ collection: collectionInput, id: refInput, isHeld: z.boolean() }),
  async run(context: Needs<'marks'>, { isHeld, ...input }) {
    const { id } = await requireMarks(context, input)
    if (!(await context.store.marks.setHeld(kindOf(input.collection), id, isHeld))) {
      throw new AppError('conflict', isHeld ? 'Only public items can be unlisted.' : 'This item is not unlisted by an administrator.')
    }
    return { id }
  },
})

/** Items unlisted by administrators, newest first. */
export const listHeld = defineProcedure({
  scope: 'admin',
  input: z.object(pageInputs),
  async run({ store, baseUrl }: Needs<'marks', 'baseUrl'>, input) {
    const { items, total } = await store.marks.listHeld({ ...toLimits(input) })
    return { ...toItemLists(items, baseUrl), ...toPage(input, total) }
  },
})
