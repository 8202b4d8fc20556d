import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { defineOperation } from '../core/define-operation.ts'
import { collectionInput, kindOf, notFound, pageInputs, pageOutputs, refInput, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
import { itemUrl, toItemLists } from '../core/records.ts'

/** Favourites of one person. */
const MAX_FAVOURITES = 5_000

const input = z.object({ collection: collectionInput, id: refInput.describe('Id or slug') })
const output = z.object({ success: z.literal(true), id: z.string(), favourite: z.boolean() })

async function setFavourite(
  { actor, store }: Needs<'marks'>,
  { collection, id }: z.infer<typeof input>,
  favourite: boolean,
): Promise<z.infer<typeof output>> {
  const kind = kindOf(collection)
  const marked = await store.marks.setFavourite(actor, kind, id, requireUser(actor).userId, favourite, MAX_FAVOURITES)
  if (!marked) throw notFound(kind)
  if (marked === 'full') {
    throw new AppError(
      'conflict',
      `You already have ${MAX_FAVOURITES.toLocaleString('en')} favourites, the most there can be. Remove some first.`,
    )
  }
  return { success: true, id: marked.id, favourite }
}

export const favourite = defineOperation({
  name: 'favourite',
  title: 'Mark a favourite',
  summary: 'Mark an item you can see as a favourite. Only you can see your favourites.',
  scope: 'write',
  cost: 5,
  surfaces: {
    rest: { method: 'PUT', path: '/api/{collection}/{id}/favourite' },
    cli: { command: 'favourite', positional: ['collection', 'id'] },
  },
  input,
  output,
  run: (context, target) => setFavourite(context, target, true),
})

export const removeFavourite = defineOperation({
  name: 'remove_favourite',
  title: 'Remove a favourite',
  summary: 'Remove an item from your favourites, also one that is hidden from you by now.',
  scope: 'write',
  cost: 5,
  surfaces: {
    rest: { method: 'DELETE', path: '/api/{collection}/{id}/favourite' },
    cli: { command: 'remove-favourite', positional: ['collection', 'id'] },
  },
  input,
  output,
  run: (context, target) => setFavourite(context, target, false),
})

export const listFavourites = defineOperation({
  name: 'list_favourites',
  title: 'List your favourites',
  summary: 'Your favourite prompts and skills, the last marked first, as far as lists show them to you.',
  scope: 'read',
  cost: 3,
  surfaces: { rest: { method: 'GET', path: '/api/favourites' }, cli: { command: 'list-favourites', positional: [] } },
  input: z.object(pageInputs),
  output: z.object({
    items: z.array(
      z.object({
        id: z.string(),
        kind: z.enum(['prompt', 'skill']),
        slug: z.string(),
        title: z.string(),
        author: z.string(),
        url: z.string(),
      }),
    ),
    ...pageOutputs,
  }),
  async run({ actor, store, baseUrl }: Needs<'marks', 'baseUrl'>, { page, perPage }) {
    const limits = { kind: null, limit: perPage, offset: (page - 1) * perPage }
    const { items, total } = await store.marks.listFavourites(actor, requireUser(actor).userId, limits)
    return {
      items: items.map((item) => {
        const { id, kind, slug, title, author } = item
        return { id, kind, slug, title, author, url: itemUrl(baseUrl, kind, item) }
      }),
      ...toPage({ page, perPage }, total),
    }
  },
})

/** Your favourite prompts or skills as lists show them, the last marked first. */
export const browseFavourites = defineProcedure({
  scope: 'account',
  input: z.object({ ...pageInputs, collection: collectionInput }),
  async run({ actor, store, baseUrl }: Needs<'marks', 'baseUrl'>, input) {
    const { items, total } = await store.marks.listFavourites(actor, requireUser(actor).userId, {
      kind: kindOf(input.collection),
      limit: input.perPage,
      offset: (input.page - 1) * input.perPage,
    })
    return { ...toItemLists(items, baseUrl), ...toPage(input, total) }
  },
})

/** The most items that one page lists. */
const MAX_SHOWN = 200

/** What the stars of a list show. */
export const findFavourites = defineProcedure({
  scope: 'account',
  input: z.object({ ids: z.array(refInput).max(MAX_SHOWN) }),
  async run({ actor, store }: Needs<'marks'>, { ids }) {
    return { ids: [...(await store.marks.findFavourites(actor, requireUser(actor).userId, ids))] }
  },
})
