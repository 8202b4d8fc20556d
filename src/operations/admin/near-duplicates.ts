import { z } from 'zod'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { collectionInput, kindOf } from '../core/inputs.ts'
import { itemUrl } from '../core/records.ts'

export const listNearDuplicates = defineOperation({
  name: 'list_near_duplicates',
  title: 'Near-duplicates',
  summary: 'Groups of public items that are nearly the same in meaning, the largest first. The newest 2,000 items are compared.',
  scope: 'admin',
  cost: 2500,
  surfaces: {},
  input: z.object({ collection: collectionInput }),
  output: z.object({
    groups: z.array(z.array(z.object({ id: z.string(), title: z.string(), author: z.string(), url: z.string() }))),
    compared: z.number().int(),
    total: z
      .number()
      .int()
      .describe('Public items with a vector of the encoder; when more than were compared, the older ones were left out'),
  }),
  async run({ store, baseUrl }: Needs<'items', 'baseUrl'>, { collection }) {
    const kind = kindOf(collection)
    const { clusters, compared, total } = await store.items.findNearClusters(kind)
    const groups = clusters.map((items) =>
      items.map((item) => ({ id: item.id, title: item.title, author: item.author, url: itemUrl(baseUrl, kind, item) })),
    )
    return { groups, compared, total }
  },
})
