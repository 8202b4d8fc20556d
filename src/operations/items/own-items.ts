import { z } from 'zod'
import { OWN_SORTS, type OwnItemsFilter } from '../../domain/items/own-items.ts'
import { VISIBILITIES } from '../../domain/items/visibility.ts'
import { parseQuery } from '../../search/analysis/query.ts'
import {
  collectionInput,
  filterText,
  kindOf,
  ownerInput,
  pageInputs,
  queryInput,
  requireOwnerOrSelf,
  searchBoth,
  toLimits,
  toPage,
} from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
import { toItemLists } from '../core/records.ts'

/** Most items that one action changes. */
export const MAX_BULK = 500

/** The filters of a person's own items. */
const narrowing = {
  collection: collectionInput,
  owner: ownerInput,
  q: queryInput.default(''),
  visibility: z.enum(VISIBILITIES).optional(),
  category: filterText,
  tag: filterText,
  label: filterText,
  sort: z.enum(OWN_SORTS).optional(),
}

function toFilter({ collection, q, owner: _, ...filter }: z.infer<z.ZodObject<typeof narrowing>>): OwnItemsFilter & {
  readonly sort: (typeof OWN_SORTS)[number]
} {
  const query = parseQuery(q)
  return { ...filter, kind: kindOf(collection), query, sort: filter.sort ?? (query === null ? 'updated' : 'relevance') }
}

/** A person's own items, whatever their visibility. */
export const listOwnItems = defineProcedure({
  scope: 'account',
  input: z.object({ ...pageInputs, ...narrowing }),
  async run({ actor, store, baseUrl }: Needs<'own' | 'items', 'baseUrl'>, { page, perPage, ...input }) {
    const { id: ownerId } = await requireOwnerOrSelf({ actor, store }, input.owner)
    const filter = toFilter(input)
    const { items, total } = await store.own.listOwned(actor, ownerId, { ...filter, ...toLimits({ page, perPage }) })
    const { visibilities, categories, tags, labels } = await store.own.countOwned(actor, ownerId, filter)
    return {
      ...toItemLists(items, baseUrl),
      counts: { visibilities: [...visibilities], categories: [...categories], tags: [...tags], labels: [...labels] },
      ...toPage({ page, perPage }, total),
    }
  },
})

/** The items that "select all" selects. */
export const matchOwnItems = defineProcedure({
  scope: 'account',
  input: z.object(narrowing),
  async run({ actor, store }: Needs<'own' | 'items'>, input) {
    const { id } = await requireOwnerOrSelf({ actor, store }, input.owner)
    return { ids: [...(await store.own.listOwnedIds(actor, id, { ...toFilter(input), limit: MAX_BULK, offset: 0 }))] }
  },
})

/** The most that it gives of each kind. */
const MAX_NEWEST = 24

/** The newest prompts and skills that others own. */
export const listNewestOfOthers = defineProcedure({
  scope: 'account',
  input: z.object({ limit: z.number().int().min(1).max(MAX_NEWEST).default(5) }),
  async run(context: Needs<'items', 'baseUrl'>, { limit }) {
    const filter = { notOwnerId: requireUser(context.actor).userId }
    const [prompts, skills] = await searchBoth(context, { query: null, filter, sort: 'newest', limit, offset: 0 })
    return toItemLists([...prompts.items, ...skills.items], context.baseUrl)
  },
})
