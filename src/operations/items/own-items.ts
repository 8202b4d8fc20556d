import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { tagsField } from '../../domain/items/fields.ts'
import { changeTags, type Filing, filingOf, isSameFiling } from '../../domain/items/filing.ts'
import { OWN_SORTS, type OwnItemsFilter } from '../../domain/items/search.ts'
import { VISIBILITIES, visibilitySchema } from '../../domain/items/visibility.ts'
import { type AuditEntry, groupEntries } from '../../domain/service/audit.ts'
import { AppError, isRefusal } from '../../errors.ts'
import { parseQuery } from '../../search/analysis/query.ts'
import type { LibraryStore } from '../../storage/store.ts'
import {
  collectionInput,
  editItem,
  filingInput,
  filterText,
  kindOf,
  ownerInput,
  pageInputs,
  queryInput,
  refInput,
  requireItem,
  requireOwnerOrSelf,
  searchBoth,
  toLimits,
  toPage,
} from '../core/inputs.ts'
import { defineProcedure, defineWrite, type Needs, requireUser, type UserActor } from '../core/procedure.ts'
import { toItemLists } from '../core/records.ts'
import { checkReach } from '../prompts/compose.ts'
import { trashItem } from './trash.ts'

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

/** Items that are written in one transaction: others who read or write wait for them only. */
const BATCH = 10

const idsInput = z.array(refInput).min(1).max(MAX_BULK)
/** Items that were left as they are, and why. The title is null where the caller cannot see the item. */
type Refused = { readonly id: string; readonly title: string | null; readonly reason: string }[]
type Collection = z.infer<typeof collectionInput>
type Store = Pick<LibraryStore, 'items'>
/**
 * Does something to each of some items, in transactions of a few. What one of them refuses, by a rule, leaves the others. The audit log gets
 * one event of all of it, in the last transaction.
 * @throws what is no such refusal; the transactions before it stay, and their event
 */
async function forEach(
  context: Needs<'inTransaction' | 'audit'>,
  collection: Collection,
  ids: readonly string[],
  act: (store: Store, user: UserActor, id: string) => Promise<void>,
): Promise<Refused> {
  const user = requireUser(context.actor)
  const left: Refused = []
  const done: AuditEntry[] = []
  const wanted = [...new Set(ids)]
  try {
    for (let at = 0; at < wanted.length; at += BATCH) {
      await setImmediate()
      const isLast = at + BATCH >= wanted.length
      let entries: readonly AuditEntry[] = []
      await context.store.inTransaction(
        async (store) => {
          for (const id of wanted.slice(at, at + BATCH)) {
            try {
              await act(store, user, id)
            } catch (error) {
              if (!isRefusal(error)) throw error
              left.push({ id, title: (await store.items.findItem(user, kindOf(collection), id))?.title ?? null, reason: error.message })
            }
          }
        },
        (noted) => {
          entries = noted
          return isLast ? groupEntries([...done, ...noted]) : []
        },
      )
      done.push(...entries)
    }
  } catch (error) {
    for (const entry of groupEntries(done)) await context.store.audit.recordEvent(entry)
    throw error
  }
  return left
}

/** Items that were changed, as they were and as they are: what takes the changes back. */
const changedItems = z.array(z.object({ id: refInput, version: z.number().int(), from: filingInput, to: filingInput })).max(MAX_BULK)

/** Add and remove tags, or set the category or visibility, of some of your items at once. */
export const changeItems = defineWrite({
  scope: 'account',
  input: z.object({
    collection: collectionInput,
    ids: idsInput,
    addTags: tagsField.default([]),
    removeTags: tagsField.default([]),
    category: refInput.nullish(),
    visibility: visibilitySchema.optional(),
  }),
  async run(context: Needs<'inTransaction' | 'audit', 'sealer'>, { collection, ids, addTags, removeTags, category, visibility }) {
    const items: z.infer<typeof changedItems> = []
    let unchanged = 0
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      const prompt = visibility !== undefined && collection === 'prompts' ? await store.items.findItem(user, 'prompt', id) : null
      if (prompt && visibility !== undefined) await checkReach({ ...context, actor: user, store }, prompt, visibility)
      let before: Filing | null = null
      const item = await editItem({ actor: user, store }, kindOf(collection), id, { note: null }, (current) => {
        before = filingOf(current)
        return {
          ...(addTags.length + removeTags.length > 0 && { tags: changeTags(before.tags, addTags, removeTags) }),
          ...(category !== undefined && { category }),
          ...(visibility !== undefined && { visibility }),
        }
      })
      if (before === null || isSameFiling(before, filingOf(item))) unchanged++
      else items.push({ id: item.id, version: item.version, from: toInput(filingOf(item)), to: toInput(before) })
    })
    return { changed: items.map(({ id }) => id), inverse: { collection, items }, unchanged, refused: left }
  },
})

function toInput({ tags, category, visibility }: Filing): z.infer<typeof filingInput> {
  return { tags: [...tags], category, visibility }
}

/** Give items the tags, category and visibility they had before you changed them together. Items that were changed since are refused. */
export const takeBackChanges = defineWrite({
  scope: 'account',
  input: z.object({ collection: collectionInput, items: changedItems.min(1) }),
  async run(context: Needs<'inTransaction' | 'audit'>, { collection, items }) {
    const wanted = new Map(items.map((item) => [item.id, item]))
    const left = await forEach(context, collection, [...wanted.keys()], async (store, user, id) => {
      await editItem({ actor: user, store }, kindOf(collection), id, { note: null }, (current) => {
        const change = wanted.get(id)
        if (!change || change.version !== current.version || !isSameFiling(change.from, filingOf(current))) {
          throw new AppError('conflict', 'It was changed since.')
        }
        return change.to
      })
    })
    return { restored: wanted.size - left.length, refused: left }
  },
})

/** Move some of your items to the trash at once. Names the items that were refused. */
export const deleteItems = defineWrite({
  scope: 'account',
  input: z.object({ collection: collectionInput, ids: idsInput }),
  async run(context: Needs<'inTransaction' | 'audit'>, { collection, ids }) {
    const deleted: string[] = []
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      const item = await requireItem({ ...context, actor: user, store }, { collection, id })
      deleted.push((await trashItem({ ...context, actor: user, store }, item, id)).id)
    })
    return { deleted, refused: left }
  },
})

/** Restore some of your items from the trash at once. Names the items that were refused. */
export const restoreItems = defineWrite({
  scope: 'account',
  input: z.object({ collection: collectionInput, ids: idsInput }),
  async run(context: Needs<'inTransaction' | 'audit'>, { collection, ids }) {
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      const restored = await store.items.setDeleted(kindOf(collection), id, user.userId, false)
      if (!restored) throw new AppError('not_found', 'It is not in your trash any more.')
    })
    return { restored: new Set(ids).size - left.length, refused: left }
  },
})
