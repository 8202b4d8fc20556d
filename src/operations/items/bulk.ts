import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { AppError, isRefusal } from '../../errors.ts'
import { MAX_TAGS, tagsField } from '../../library/fields.ts'
import type { Item, Prompt, Skill } from '../../library/items.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import { slugifyTag } from '../../library/slug.ts'
import type { TeamRole } from '../../library/teams.ts'
import { visibilitySchema } from '../../library/visibility.ts'
import { defineOperation, type Needs, requireUser, type UserActor } from '../core/define-operation.ts'
import { collectionInput, editorOf, kindOf, notFound, refInput, requireEditable } from '../core/inputs.ts'
import { MAX_BULK } from './own-items.ts'

/** How long changes of many items can be taken back. */
const TAKEN_BACK_WITHIN_MS = 10 * 60_000
/** Items that are written in one transaction: others who read or write wait for them only. */
const BATCH = 10

const idsInput = z.array(refInput).min(1).max(MAX_BULK)
/** Items that were left as they are, and why. The title is null where the caller cannot see the item. */
const refused = z.array(z.object({ id: z.string(), title: z.string().nullable(), reason: z.string() }))
type Refused = z.infer<typeof refused>
type Collection = z.infer<typeof collectionInput>
type Store = Pick<LibraryStore, 'items' | 'marks'>
/** Fields that both kinds of items have, and that are changed together. */
type Change = Partial<Pick<Prompt, 'visibility'>> & { readonly tags?: readonly string[]; readonly category?: string | null }

async function findItem(store: Store, actor: UserActor, collection: Collection, id: string): Promise<Prompt | Skill | null> {
  return collection === 'prompts' ? await store.items.findPrompt(actor, id) : await store.items.findSkill(actor, id)
}

/** Changes one item, by the rule of every edit. */
async function changeItem(
  store: Store,
  user: UserActor,
  collection: Collection,
  id: string,
  baseVersion: number | undefined,
  decide: (item: Item) => Change,
): Promise<Prompt | Skill> {
  const check = (item: Prompt | Skill, role: TeamRole | null) => {
    requireEditable(user, item, role, id, { baseVersion })
    const change = decide(item)
    requireEditable(user, item, role, id, { visibility: change.visibility })
    return change
  }
  const editor = { ...editorOf(user), note: null }
  const changed =
    collection === 'prompts' ? await store.items.changePrompt(id, editor, check) : await store.items.changeSkill(id, editor, check)
  if (!changed) throw notFound(kindOf(collection))
  return changed
}

/**
 * Does something to each of some items, in transactions of a few. What one of them refuses, by a rule, leaves the others.
 * @throws what is no such refusal; the transactions before it stay
 */
async function forEach(
  context: Needs<'inTransaction'>,
  collection: Collection,
  ids: readonly string[],
  act: (store: Store, user: UserActor, id: string) => Promise<void>,
): Promise<Refused> {
  const user = requireUser(context.actor)
  const left: Refused = []
  const wanted = [...new Set(ids)]
  for (let at = 0; at < wanted.length; at += BATCH) {
    await setImmediate()
    await context.store.inTransaction(async (store) => {
      for (const id of wanted.slice(at, at + BATCH)) {
        try {
          await act(store, user, id)
        } catch (error) {
          if (!isRefusal(error)) throw error
          left.push({ id, title: (await findItem(store, user, collection, id))?.title ?? null, reason: error.message })
        }
      }
    })
  }
  return left
}

/** The tags of an item after some came and others went. @throws AppError `invalid_input` */
function changeTags(tags: readonly string[], added: readonly string[], removed: readonly string[]): string[] {
  const [gone, there] = [new Set(removed.map(slugifyTag)), new Set(tags.map(slugifyTag))]
  const next = [...tags.filter((tag) => !gone.has(slugifyTag(tag))), ...added.filter((tag) => !there.has(slugifyTag(tag)))]
  if (next.length > MAX_TAGS) throw new AppError('invalid_input', `It would have ${next.length} tags; the limit is ${MAX_TAGS}.`)
  return next
}

const changed = z.array(z.object({ id: z.string(), version: z.number().int() }))

export const changeItems = defineOperation({
  name: 'change_items',
  title: 'Change many items',
  summary: `Add and remove tags, or set the category or visibility, of up to ${MAX_BULK} of your items at once; omitted fields stay. Names the items that were refused.`,
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({
    collection: collectionInput,
    ids: idsInput,
    addTags: tagsField.default([]),
    removeTags: tagsField.default([]),
    category: refInput.nullish(),
    visibility: visibilitySchema.optional(),
  }),
  output: z.object({ changed, unchanged: z.number().int(), refused }),
  async run(context: Needs<'inTransaction'>, { collection, ids, addTags, removeTags, category, visibility }) {
    const done: z.infer<typeof changed> = []
    let unchanged = 0
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      let before = 0
      const item = await changeItem(store, user, collection, id, undefined, (current) => {
        before = current.version
        const names = current.tags.map(({ name }) => name)
        return {
          ...(addTags.length + removeTags.length > 0 && { tags: changeTags(names, addTags, removeTags) }),
          ...(category !== undefined && { category }),
          ...(visibility !== undefined && { visibility }),
        }
      })
      if (item.version === before) unchanged++
      else done.push({ id: item.id, version: item.version })
    })
    return { changed: done, unchanged, refused: left }
  },
})

export const takeBackChanges = defineOperation({
  name: 'take_back_changes',
  title: 'Take changes back',
  summary:
    'Give items the tags, category and visibility they had before you changed them together. For ten minutes; items that were changed since are refused.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ collection: collectionInput, changed: changed.min(1).max(MAX_BULK) }),
  output: z.object({ restored: z.number().int(), refused }),
  async run(context: Needs<'inTransaction' | 'categories', 'clock'>, input) {
    const { collection } = input
    // One that was removed meanwhile is not restored; refused, it would leave half of the item restored.
    const categories = new Set((await context.store.categories.listCategories(context.actor)).map(({ slug }) => slug))
    const oldest = context.clock() - TAKEN_BACK_WITHIN_MS
    const versions = new Map(input.changed.map(({ id, version }) => [id, version]))
    const left = await forEach(context, collection, [...versions.keys()], async (store, user, id) => {
      const item = await findItem(store, user, collection, id)
      if (!item) throw notFound(kindOf(collection))
      requireEditable(user, item, await store.items.findRole(user.userId, item.ownerId), id, { baseVersion: versions.get(id) })
      const [newest] = await store.items.listVersions(user, item.id, { before: null, limit: 1 })
      const before = await store.items.findVersion(user, item.id, item.version - 1)
      if (newest?.version !== item.version || newest.author !== user.username || !before) {
        throw new AppError('conflict', 'There is no earlier version of yours to go back to.')
      }
      if (Date.parse(newest.createdAt) < oldest) {
        throw new AppError('conflict', 'It was changed more than ten minutes ago. Restore an earlier version on its page.')
      }
      // A first publication gave the item a slug of its title, which goes with it.
      const taken = item.visibility === 'public' && (await store.marks.takeBackPublication(item.kind, item.id, user.userId))
      const { tags, visibility } = before
      const category = before.category !== null && categories.has(before.category) ? before.category : null
      await changeItem(store, user, collection, item.id, item.version, () => ({ tags, category, ...(taken ? {} : { visibility }) }))
    })
    return { restored: versions.size - left.length, refused: left }
  },
})

export const deleteItems = defineOperation({
  name: 'delete_items',
  title: 'Delete many items',
  summary: `Move up to ${MAX_BULK} of your items to the trash at once. Names the items that were refused.`,
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ collection: collectionInput, ids: idsInput }),
  output: z.object({ deleted: z.array(z.string()), refused }),
  async run(context: Needs<'inTransaction'>, { collection, ids }) {
    const deleted: string[] = []
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      const item = await findItem(store, user, collection, id)
      if (!item) throw notFound(kindOf(collection))
      requireEditable(user, item, await store.items.findRole(user.userId, item.ownerId), id, { right: 'delete' })
      if (!(await store.items.setDeleted(item.kind, item.id, user.userId, true))) throw notFound(item.kind)
      deleted.push(item.id)
    })
    return { deleted, refused: left }
  },
})

export const restoreItems = defineOperation({
  name: 'restore_items',
  title: 'Restore many items',
  summary: `Restore up to ${MAX_BULK} of your items from the trash at once. Names the items that were refused.`,
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ collection: collectionInput, ids: idsInput }),
  output: z.object({ restored: z.number().int(), refused }),
  async run(context: Needs<'inTransaction'>, { collection, ids }) {
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      const restored = await store.items.setDeleted(kindOf(collection), id, user.userId, false)
      if (!restored) throw new AppError('not_found', 'It is not in your trash any more.')
    })
    return { restored: new Set(ids).size - left.length, refused: left }
  },
})
