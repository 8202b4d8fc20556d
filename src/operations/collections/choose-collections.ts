import { z } from 'zod'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { collectionInput, pageInputs, pageOutputs, queryInput, refInput, requireItem, toPage } from '../core/inputs.ts'
import { itemUrl } from '../core/records.ts'
import { foundCollection, toFoundCollection } from './collection-records.ts'

/** Collections that the filters of a list offer. */
const MAX_OFFERED = 12

/** What the filters of a list offer. */
export const nameOwnCollections = defineOperation({
  name: 'name_own_collections',
  title: 'Name your collections',
  summary: `Your collections and those of your teams, by title, at most ${MAX_OFFERED}.`,
  scope: 'account',
  surfaces: {},
  input: z.object({}),
  output: z.object({ collections: z.array(z.object({ id: z.string(), title: z.string() })) }),
  async run({ actor, store }: Needs<'collections'>) {
    const own = await store.collections.listOwnNames(actor, MAX_OFFERED)
    return { collections: own.map(({ id, title }) => ({ id, title })) }
  },
})

/** What somebody chooses from who collects an item. */
export const chooseCollections = defineOperation({
  name: 'choose_collections',
  title: 'Choose collections for an item',
  summary: 'The collections you may change, in pages, and which of them an item is in.',
  scope: 'account',
  cost: 5,
  surfaces: {},
  input: z.object({ collection: collectionInput, id: refInput, q: queryInput.default(''), ...pageInputs }),
  output: z.object({
    item: z.object({ id: z.string(), title: z.string(), url: z.string() }),
    collections: z.array(foundCollection.extend({ holds: z.boolean() })),
    ...pageOutputs,
  }),
  async run(context: Needs<'collections' | 'items', 'baseUrl'>, { q, page, perPage, ...named }) {
    const { actor, store, baseUrl } = context
    const item = await requireItem(context, named)
    const { items, total } = await store.collections.listCollections(actor, {
      q,
      isEditable: true,
      limit: perPage,
      offset: (page - 1) * perPage,
    })
    const ids = items.map((one) => one.id)
    const holding = await store.collections.listHolding(actor, item.id, { among: ids, limit: ids.length })
    const held = new Set(holding.map((one) => one.id))
    return {
      item: { id: item.id, title: item.title, url: itemUrl(baseUrl, item.kind, item) },
      collections: items.map((one) => ({ ...toFoundCollection(one, baseUrl), holds: held.has(one.id) })),
      ...toPage({ page, perPage }, total),
    }
  },
})
