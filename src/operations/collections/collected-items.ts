import { z } from 'zod'
import { COLLECTION_MOVES, type CollectionPlace, MAX_COLLECTED_AT_ONCE } from '../../domain/items/collections.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import { baseVersionInput, refInput } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import {
  collectionRecord,
  collectionRef,
  foundCollection,
  noCollection,
  toCollectionRecord,
  toFoundCollection,
} from './collection-records.ts'

const refs = z.array(refInput).min(1).max(MAX_COLLECTED_AT_ONCE)

export const addToCollection = defineOperation({
  name: 'add_to_collection',
  title: 'Add to a collection',
  summary: 'Add prompts and skills that you can see to a collection you may change. What is in it already stays where it is.',
  ...itemWrite,
  surfaces: { mcp: { readOnly: false, idempotent: true }, rest: 'POST /api/collections/{id}/items', cli: 'add-to-collection id items' },
  input: z.object({
    id: collectionRef,
    items: refs.describe('Ids or slugs'),
    position: z.number().int().min(1).optional().describe('Place of the first. Default: at the end'),
  }),
  output: z.object({ success: z.literal(true), added: z.number().int(), collection: foundCollection }),
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, { id, items, position }) {
    const changed = await store.collections.addToCollection(actor, id, items, position ?? null)
    if (!changed) throw noCollection()
    return { success: true as const, added: changed.added, collection: toFoundCollection(changed.collection, baseUrl) }
  },
})

export const removeFromCollection = defineOperation({
  name: 'remove_from_collection',
  title: 'Remove from a collection',
  summary: 'Take prompts and skills out of a collection you may change. They stay in the library.',
  ...itemWrite,
  surfaces: { rest: 'DELETE /api/collections/{id}/items', cli: 'remove-from-collection id items' },
  input: z.object({ id: collectionRef, items: refs.describe('Ids or slugs') }),
  output: z.object({ success: z.literal(true), removed: z.number().int(), collection: collectionRecord }),
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, { id, items }) {
    const changed = await store.collections.removeFromCollection(actor, id, items)
    if (!changed) throw noCollection()
    return { success: true as const, removed: changed.removed, collection: toCollectionRecord(changed.collection, baseUrl) }
  },
})

export const moveInCollection = defineOperation({
  name: 'move_in_collection',
  title: 'Move in a collection',
  summary: 'Move one item in the order of a collection: before or after another one, or by "to". Others can reorder it at the same time.',
  ...itemWrite,
  surfaces: { rest: 'POST /api/collections/{id}/items/{item}/move', cli: 'move-in-collection id item' },
  input: z
    .object({
      id: collectionRef,
      item: refInput.describe('Id or slug of the item'),
      before: refInput.optional().describe('Id or slug of the item that it is put before'),
      after: refInput.optional().describe('Id or slug of the item that it is put after'),
      to: z.enum(COLLECTION_MOVES).optional().describe('One place up or down, or an end'),
      baseVersion: baseVersionInput,
    })
    .superRefine((input, issues) => {
      if (toPlace(input) === null)
        issues.addIssue({ code: 'custom', path: ['to'], message: 'or before or after is required, and only one' })
    }),
  output: z.object({ success: z.literal(true), collection: collectionRecord }),
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, input) {
    const place = toPlace(input)
    const collection = place && (await store.collections.moveInCollection(actor, input.id, input.item, place, input.baseVersion))
    if (!collection) throw noCollection()
    return { success: true as const, collection: toCollectionRecord(collection, baseUrl) }
  },
})

/** The place that an input names; null for none and for several. */
function toPlace(input: {
  before?: string | undefined
  after?: string | undefined
  to?: (typeof COLLECTION_MOVES)[number] | undefined
}): CollectionPlace | null {
  const { before, after, to } = input
  const places: CollectionPlace[] = [
    ...(before === undefined ? [] : [{ before }]),
    ...(after === undefined ? [] : [{ after }]),
    ...(to === undefined ? [] : [{ to }]),
  ]
  return places.length === 1 ? (places[0] ?? null) : null
}
