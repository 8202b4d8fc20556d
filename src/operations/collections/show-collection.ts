import { z } from 'zod'
import { defineOperation } from '../core/define-operation.ts'
import { pageInputs, pageOutputs, toPage } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { listedPrompt, skillRecord, toListedPrompt, toSkillRecord } from '../core/records.ts'
import { collectionRecord, collectionRef, noCollection, toCollectionRecord } from './collection-records.ts'

export const showCollection = defineOperation({
  name: 'show_collection',
  title: 'Show a collection',
  summary: 'A collection with a page of its prompts and skills, in its order: those that you find in lists.',
  scope: null,
  cost: 3,
  surfaces: { rest: { method: 'GET', path: '/api/collections/{id}' }, cli: { command: 'show-collection', positional: ['id'] } },
  input: z.object({ id: collectionRef, ...pageInputs }),
  output: z.object({
    collection: collectionRecord,
    items: z.array(
      z.discriminatedUnion('kind', [listedPrompt.extend({ kind: z.literal('prompt') }), skillRecord.extend({ kind: z.literal('skill') })]),
    ),
    ...pageOutputs,
  }),
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, { id, page, perPage }) {
    const limits = { kind: null, limit: perPage, offset: (page - 1) * perPage }
    const collection = await store.collections.findCollection(actor, id)
    const found = collection && (await store.collections.listCollected(actor, collection.id, limits))
    if (!found) throw noCollection()
    return {
      collection: toCollectionRecord(collection, baseUrl),
      items: found.items.map((item) =>
        item.kind === 'prompt'
          ? { kind: 'prompt' as const, ...toListedPrompt(item, baseUrl) }
          : { kind: 'skill' as const, ...toSkillRecord(item, baseUrl) },
      ),
      ...toPage({ page, perPage }, found.total),
    }
  },
})
