import { z } from 'zod'
import { defineOperation } from '../core/define-operation.ts'
import { filterText, pageInputs, pageOutputs, queryInput, toPage } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { foundCollection, toFoundCollection } from './collection-records.ts'

export const listCollections = defineOperation({
  name: 'list_collections',
  title: 'List collections',
  summary: "Collections of prompts and skills: yours and your teams' first, then others you can see.",
  scope: null,
  cost: 5,
  surfaces: {
    mcp: { readOnly: true },
    rest: { method: 'GET', path: '/api/collections' },
    cli: { command: 'list-collections', positional: [] },
  },
  input: z.object({
    q: queryInput.default('').describe('Words of the title'),
    owner: filterText.describe('Person or team'),
    item: filterText.describe('Only those with this prompt or skill'),
    mayEdit: z.boolean().default(false).describe('Only those you may change'),
    page: pageInputs.page.describe('Page'),
    perPage: pageInputs.perPage.describe('Per page'),
  }),
  output: z.object({ collections: z.array(foundCollection), ...pageOutputs }),
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, { q, owner, item, mayEdit, page, perPage }) {
    const { items, total } = await store.collections.listCollections(actor, {
      q,
      owner,
      item,
      isEditable: mayEdit,
      limit: perPage,
      offset: (page - 1) * perPage,
    })
    return {
      collections: items.map((collection) => toFoundCollection(collection, baseUrl)),
      ...toPage({ page, perPage }, total),
    }
  },
})
