import { z } from 'zod'
import { AppError, invalidInput } from '../../errors.ts'
import { withinOf } from '../../library/actor.ts'
import { descriptionField, titleField } from '../../library/fields.ts'
import { visibilitySchema } from '../../library/visibility.ts'
import { defineOperation } from '../core/define-operation.ts'
import { baseVersionInput, ownerInput, refInput, refuseWidening } from '../core/inputs.ts'
import type { Needs } from '../core/procedure.ts'
import { newOwnership } from '../prompts/save-prompt.ts'
import { collectionRecord, collectionRef, noCollection, toCollectionRecord } from './collection-records.ts'

const output = z.object({ success: z.literal(true), collection: collectionRecord })

export const createCollection = defineOperation({
  name: 'create_collection',
  title: 'Create a collection',
  summary: 'Create a collection of prompts and skills, of your own or of a team you may edit for.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: {
    rest: { method: 'POST', path: '/api/collections', status: 201 },
    cli: { command: 'create-collection', positional: ['title'] },
  },
  input: z.object({
    title: titleField.describe('Title'),
    description: descriptionField.optional().describe('What it is for'),
    owner: ownerInput,
    visibility: visibilitySchema.optional().describe("Who else sees it. Default: the owner's setting (initially private)"),
  }),
  output,
  async run(context: Needs<'collections' | 'items', 'baseUrl'>, { title, description = null, ...asked }) {
    const { actor, store, baseUrl } = context
    const ownership = await newOwnership(context, asked)
    const collection = await store.collections.createCollection(actor, { ...ownership, title, description })
    return { success: true as const, collection: toCollectionRecord(collection, baseUrl) }
  },
})

export const updateCollection = defineOperation({
  name: 'update_collection',
  title: 'Update a collection',
  summary: 'Change the title, description, address or visibility of a collection; omitted fields stay.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: {
    rest: { method: 'PATCH', path: '/api/collections/{id}' },
    cli: { command: 'update-collection', positional: ['id'] },
  },
  input: z.object({
    id: collectionRef,
    title: titleField.optional().describe('New title'),
    description: descriptionField.nullable().optional().describe('New description; null removes it'),
    visibility: visibilitySchema.optional().describe('Who else sees it. In a team, maintainers alone change it'),
    slug: refInput.optional().describe('New slug; the old one redirects here'),
    baseVersion: baseVersionInput,
  }),
  output,
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, { id, baseVersion, ...change }) {
    if (Object.values(change).every((value) => value === undefined)) throw invalidInput('', 'Nothing to update; give at least one field.')
    refuseWidening(actor, change.visibility)
    const collection = await store.collections.changeCollection(actor, id, change, baseVersion)
    if (!collection) throw noCollection()
    return { success: true as const, collection: toCollectionRecord(collection, baseUrl) }
  },
})

export const deleteCollection = defineOperation({
  name: 'delete_collection',
  title: 'Delete a collection',
  summary: 'Delete a collection for good. What is in it stays in the library.',
  scope: 'write',
  writes: true,
  cost: 5,
  surfaces: {
    rest: { method: 'DELETE', path: '/api/collections/{id}' },
    cli: { command: 'delete-collection', positional: ['id'] },
  },
  input: z.object({ id: collectionRef }),
  output: z.object({ success: z.literal(true), id: z.string(), title: z.string() }),
  async run({ actor, store }: Needs<'collections'>, { id }) {
    if (withinOf(actor)) throw new AppError('forbidden', 'A narrowed API key cannot delete a collection.')
    const deleted = await store.collections.deleteCollection(actor, id)
    if (!deleted) throw noCollection()
    return { success: true as const, ...deleted }
  },
})
