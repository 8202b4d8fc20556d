import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { AppError, isRefusal } from '../../errors.ts'
import { type AuditEntry, groupEntries } from '../../library/audit.ts'
import { tagsField } from '../../library/fields.ts'
import { changeTags, type Filing, filingOf, isSameFiling } from '../../library/filing.ts'
import type { Item, Prompt, Skill } from '../../library/items.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import type { LastChange } from '../../library/shared-changes.ts'
import type { TeamRole } from '../../library/teams.ts'
import { isWiderThan, visibilitySchema } from '../../library/visibility.ts'
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
type Change = { readonly [Field in keyof Filing]?: Filing[Field] | undefined }

async function findItem(store: Store, actor: UserActor, collection: Collection, id: string): Promise<Prompt | Skill | null> {
  return collection === 'prompts' ? await store.items.findPrompt(actor, id) : await store.items.findSkill(actor, id)
}

/** Changes one item, by the rule of every edit. */
async function changeItem(
  store: Store,
  user: UserActor,
  collection: Collection,
  id: string,
  decide: (item: Item) => Change,
): Promise<Prompt | Skill> {
  const check = (item: Prompt | Skill, role: TeamRole | null) => {
    requireEditable(user, item, role, id)
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
              left.push({ id, title: (await findItem(store, user, collection, id))?.title ?? null, reason: error.message })
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

/** When an action began and ended: what takes it back takes back changes of that time alone. */
const span = { began: z.iso.datetime(), ended: z.iso.datetime() }

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
  output: z.object({ changed: z.array(z.string()), ...span, unchanged: z.number().int(), refused }),
  async run(context: Needs<'inTransaction' | 'audit', 'clock'>, { collection, ids, addTags, removeTags, category, visibility }) {
    const done: string[] = []
    const now = () => new Date(context.clock()).toISOString()
    const began = now()
    let unchanged = 0
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      let before: Filing | null = null
      const item = await changeItem(store, user, collection, id, (current) => {
        before = filingOf(current)
        return {
          ...(addTags.length + removeTags.length > 0 && { tags: changeTags(before.tags, addTags, removeTags) }),
          ...(category !== undefined && { category }),
          ...(visibility !== undefined && { visibility }),
        }
      })
      if (before !== null && isSameFiling(before, filingOf(item))) unchanged++
      else done.push(item.id)
    })
    return { changed: done, began, ended: now(), unchanged, refused: left }
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
  input: z.object({ collection: collectionInput, ids: idsInput, ...span }),
  output: z.object({ restored: z.number().int(), refused }),
  async run(context: Needs<'inTransaction' | 'categories' | 'audit', 'clock'>, { collection, ids, began, ended }) {
    // One that was removed meanwhile is not restored; refused, it would leave half of the item restored.
    const categories = new Set((await context.store.categories.listCategories(context.actor)).map(({ slug }) => slug))
    const oldest = context.clock() - TAKEN_BACK_WITHIN_MS
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      const item = await findItem(store, user, collection, id)
      if (!item) throw notFound(kindOf(collection))
      requireEditable(user, item, await store.items.findRole(user.userId, item.ownerId), id)
      const last = await store.items.findLastChange(item.id)
      const before = last && toFiling(last.before)
      const isTheOne = last?.actorId === user.userId && last.at >= began && last.at <= ended
      const isStill = last?.version === item.version && last.before?.version === item.version && isSame(last, item)
      // One that was taken back is logged as if it had not been made.
      if (!isTheOne || !isStill || !before || isSameFiling(before, filingOf(item))) throw new AppError('conflict', 'It was changed since.')
      if (Date.parse(last.at) < oldest) throw new AppError('conflict', 'It was changed more than ten minutes ago.')
      // Its newest version is hidden again from those who were shown it, and a first publication takes its slug with it.
      const isWidened = isWiderThan(item.visibility, before.visibility)
      const taken = isWidened && (await store.marks.takeBackPublication(item.kind, item.id, user.userId))
      const category = before.category !== null && categories.has(before.category) ? before.category : null
      await changeItem(store, user, collection, item.id, () => ({ ...before, category, ...(taken ? { visibility: undefined } : {}) }))
    })
    return { restored: new Set(ids).size - left.length, refused: left }
  },
})

/** Where an item was filed by an entry of the log; null for one in the trash, and where the log does not say. */
function toFiling(change: Omit<LastChange, 'before'> | null): Filing | null {
  if (!change || change.audience === 'deleted' || change.tags === null) return null
  return { tags: change.tags, category: change.category, visibility: change.audience }
}

function isSame(change: LastChange, item: Item): boolean {
  const filing = toFiling(change)
  return filing !== null && isSameFiling(filing, filingOf(item))
}

export const deleteItems = defineOperation({
  name: 'delete_items',
  title: 'Delete many items',
  summary: `Move up to ${MAX_BULK} of your items to the trash at once. Names the items that were refused.`,
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ collection: collectionInput, ids: idsInput }),
  output: z.object({ deleted: z.array(z.string()), refused }),
  async run(context: Needs<'inTransaction' | 'audit'>, { collection, ids }) {
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
  async run(context: Needs<'inTransaction' | 'audit'>, { collection, ids }) {
    const left = await forEach(context, collection, ids, async (store, user, id) => {
      const restored = await store.items.setDeleted(kindOf(collection), id, user.userId, false)
      if (!restored) throw new AppError('not_found', 'It is not in your trash any more.')
    })
    return { restored: new Set(ids).size - left.length, refused: left }
  },
})
