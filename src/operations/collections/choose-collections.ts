import { z } from 'zod'
import { collectionInput, pageInputs, queryInput, refInput, requireItem, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { toFoundCollection } from './collection-records.ts'

/** Collections that the filters of a list offer. */
const MAX_OFFERED = 12

/** What the filters of a list offer. */
export const nameOwnCollections = defineProcedure({
  scope: 'account',
  async run({ actor, store }: Needs<'collections'>) {
    const own = await store.collections.listOwnNames(actor, MAX_OFFERED)
    return { collections: own.map(({ id, title }) => ({ id, title })) }
  },
})

/** What somebody chooses from who collects an item. */
export const chooseCollections = defineProcedure({
  scope: 'account',
  input: z.object({ collection: collectionInput, id: refInput, q: queryInput.default(''), ...pageInputs }),
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
