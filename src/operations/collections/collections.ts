import { z } from 'zod'
import { COLLECTION_MOVES, type Collection, type CollectionPlace, MAX_COLLECTED_AT_ONCE } from '../../domain/items/collections.ts'
import { descriptionField, titleField } from '../../domain/items/fields.ts'
import { VISIBILITIES, visibilitySchema } from '../../domain/items/visibility.ts'
import { withinOf } from '../../domain/people/actor.ts'
import { hasRight, TEAM_ROLES } from '../../domain/people/teams.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import {
  baseVersionInput,
  collectionInput,
  filterText,
  ownerInput,
  pageInputs,
  pageOutputs,
  queryInput,
  refInput,
  refuseWidening,
  requireItem,
  toLimits,
  toPage,
} from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { itemUrl, listedPrompt, skillRecord, toListedPrompt, toSkillRecord, when } from '../core/records.ts'
import { newOwnership } from '../items/save-items.ts'

/** A collection in lists that models read. */
export const foundCollection = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  owner: z.string(),
  visibility: z.enum(VISIBILITIES),
  prompts: z.number().int().describe('Those you can see'),
  skills: z.number().int().describe('Those you can see'),
  url: z.string(),
})

/** A collection as the other surfaces show it. */
export const collectionRecord = foundCollection.extend({
  isOfTeam: z.boolean(),
  role: z.enum(TEAM_ROLES).nullable().describe('What you may do with it'),
  createdAt: when,
  version: z.number().int().nullable().describe('For baseVersion; null for those who may not change it'),
  updatedAt: when.nullable().describe('As version'),
})

const collectionRef = refInput.describe('Id or slug of the collection')

/** The page of a collection. By id where the slug leads its owner alone. */
export function collectionUrl(baseUrl: string, { id, slug, visibility }: Pick<Collection, 'id' | 'slug' | 'visibility'>): string {
  return `${baseUrl}/collections/${visibility === 'unlisted' ? id : slug}`
}

function toFoundCollection(collection: Collection, baseUrl: string): z.infer<typeof foundCollection> {
  const { id, slug, title, description, owner, visibility, counts } = collection
  const url = collectionUrl(baseUrl, collection)
  return { id, slug, title, description, owner, visibility, prompts: counts.prompt, skills: counts.skill, url }
}

function toCollectionRecord(collection: Collection, baseUrl: string): z.infer<typeof collectionRecord> {
  const { isOfTeam, role, createdAt, version, updatedAt } = collection
  const ofEditors = hasRight(role, 'edit') ? { version, updatedAt } : { version: null, updatedAt: null }
  return { ...toFoundCollection(collection, baseUrl), isOfTeam, role, createdAt, ...ofEditors }
}

/** The same error for missing and invisible collections. */
export function noCollection(): AppError {
  return new AppError('not_found', 'Collection not found, or not visible to you. Check the id or slug.')
}

export const listCollections = defineOperation({
  name: 'list_collections',
  title: 'List collections',
  summary: "Collections of prompts and skills: yours and your teams' first, then others you can see.",
  scope: null,
  cost: 5,
  surfaces: { mcp: { readOnly: true }, rest: 'GET /api/collections', cli: 'list-collections' },
  input: z.object({
    q: queryInput.default('').describe('Words of the title'),
    owner: filterText.describe('Person or team'),
    item: filterText.describe('Only those with this prompt or skill'),
    mayEdit: z.boolean().default(false).describe('Only those you may change'),
    page: pageInputs.page.describe('Page'),
    perPage: pageInputs.perPage.describe('Per page'),
  }),
  output: z.object({ collections: z.array(foundCollection), ...pageOutputs }),
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, { q, owner, item, mayEdit, ...page }) {
    const { items, total } = await store.collections.listCollections(actor, { q, owner, item, isEditable: mayEdit, ...toLimits(page) })
    return { collections: items.map((collection) => toFoundCollection(collection, baseUrl)), ...toPage(page, total) }
  },
})

/** Collections that the filters of a list offer. */
const MAX_OFFERED = 12

/** The choices of the filters of a list. */
export const nameOwnCollections = defineProcedure({
  scope: 'account',
  async run({ actor, store }: Needs<'collections'>) {
    const own = await store.collections.listOwnNames(actor, MAX_OFFERED)
    return { collections: own.map(({ id, title }) => ({ id, title })) }
  },
})

/** The collections that an item can be put into. */
export const chooseCollections = defineProcedure({
  scope: 'account',
  input: z.object({ collection: collectionInput, id: refInput, q: queryInput.default(''), ...pageInputs }),
  async run(context: Needs<'collections' | 'items', 'baseUrl'>, { q, page, perPage, ...named }) {
    const { actor, store, baseUrl } = context
    const item = await requireItem(context, named)
    const { items, total } = await store.collections.listCollections(actor, { q, isEditable: true, ...toLimits({ page, perPage }) })
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

export const showCollection = defineOperation({
  name: 'show_collection',
  title: 'Show a collection',
  summary: 'A collection with a page of its prompts and skills, in its order: those that you find in lists.',
  scope: null,
  cost: 3,
  surfaces: { rest: 'GET /api/collections/{id}', cli: 'show-collection id' },
  input: z.object({ id: collectionRef, ...pageInputs }),
  output: z.object({
    collection: collectionRecord,
    items: z.array(
      z.discriminatedUnion('kind', [listedPrompt.extend({ kind: z.literal('prompt') }), skillRecord.extend({ kind: z.literal('skill') })]),
    ),
    ...pageOutputs,
  }),
  async run({ actor, store, baseUrl }: Needs<'collections', 'baseUrl'>, { id, page, perPage }) {
    const limits = { kind: null, ...toLimits({ page, perPage }) }
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

const output = z.object({ success: z.literal(true), collection: collectionRecord })

export const createCollection = defineOperation({
  name: 'create_collection',
  title: 'Create a collection',
  summary: 'Create a collection of prompts and skills, of your own or of a team you may edit for.',
  ...itemWrite,
  surfaces: { rest: 'POST /api/collections 201', cli: 'create-collection title' },
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
  ...itemWrite,
  surfaces: { rest: 'PATCH /api/collections/{id}', cli: 'update-collection id' },
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
  ...itemWrite,
  surfaces: { rest: 'DELETE /api/collections/{id}', cli: 'delete-collection id' },
  input: z.object({ id: collectionRef }),
  output: z.object({ success: z.literal(true), id: z.string(), title: z.string() }),
  async run({ actor, store }: Needs<'collections'>, { id }) {
    if (withinOf(actor)) throw new AppError('forbidden', 'A narrowed API key cannot delete a collection.')
    const deleted = await store.collections.deleteCollection(actor, id)
    if (!deleted) throw noCollection()
    return { success: true as const, ...deleted }
  },
})

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
