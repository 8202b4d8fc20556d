import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { TEAM_ROLES } from '../../library/teams.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'
import { collectionInput, kindOf, notFound, pageInputs, pageOutputs, refInput, toPage } from '../core/inputs.ts'
import { itemLists, toItemLists } from './favourites.ts'

/** Items on the first page. */
const MAX_FEATURED = 12

/** The signed-in reader's relation to an item. */
export const itemMarks = z.object({
  id: z.string(),
  owner: z.string(),
  isTeam: z.boolean(),
  role: z.enum(TEAM_ROLES).nullable(),
  hasVoted: z.boolean(),
  isFavourite: z.boolean(),
  version: z.number().int(),
  isFeatured: z.boolean(),
  isHeld: z.boolean(),
})

export const showMarks = defineOperation({
  name: 'show_marks',
  title: 'Item status',
  summary:
    'Your role over an item, whether you voted for it or marked it as a favourite, its newest version, and whether it is featured or unlisted by administrators.',
  scope: 'account',
  surfaces: {},
  input: z.object({ collection: collectionInput, id: refInput }),
  output: itemMarks,
  async run({ actor, store }: Needs<'marks'>, input) {
    const kind = kindOf(input.collection)
    const marks = await store.marks.findMarks(actor, kind, input.id)
    if (!marks) throw notFound(kind)
    return { ...marks }
  },
})

export const listFeatured = defineOperation({
  name: 'list_featured',
  title: 'List featured items',
  summary: 'The public items featured on the home page.',
  scope: null,
  surfaces: {},
  input: z.object({ limit: z.number().int().min(1).max(MAX_FEATURED).default(6) }),
  output: z.object(itemLists),
  async run({ store, baseUrl }: Needs<'marks', 'baseUrl'>, { limit }) {
    return toItemLists(await store.marks.listFeatured(limit), baseUrl)
  },
})

export const setFeatured = defineOperation({
  name: 'set_featured',
  title: 'Feature an item',
  summary: 'Feature a public item on the home page, or stop featuring it.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ collection: collectionInput, id: refInput, isFeatured: z.boolean() }),
  output: z.object({ success: z.literal(true) }),
  async run({ actor, store }: Needs<'marks'>, input) {
    const kind = kindOf(input.collection)
    const marks = await store.marks.findMarks(actor, kind, input.id)
    if (!marks || !(await store.marks.setFeatured(kind, marks.id, input.isFeatured))) throw notFound(kind)
    return { success: true as const }
  },
})

export const setHeld = defineOperation({
  name: 'set_held',
  title: 'Unlist an item',
  summary: 'Make a public item unlisted so that its owner cannot undo it, or undo that.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ collection: collectionInput, id: refInput, isHeld: z.boolean() }),
  output: z.object({ success: z.literal(true), id: z.string() }),
  async run({ actor, store }: Needs<'marks'>, input) {
    const kind = kindOf(input.collection)
    const marks = await store.marks.findMarks(actor, kind, input.id)
    if (!marks) throw notFound(kind)
    if (!(await store.marks.setHeld(kind, marks.id, input.isHeld))) {
      throw new AppError('conflict', input.isHeld ? 'Only public items can be unlisted.' : 'This item is not unlisted by an administrator.')
    }
    return { success: true as const, id: marks.id }
  },
})

export const listHeld = defineOperation({
  name: 'list_held',
  title: 'List unlisted items',
  summary: 'Items unlisted by administrators, newest first.',
  scope: 'admin',
  surfaces: {},
  input: z.object(pageInputs),
  output: z.object({ ...itemLists, ...pageOutputs }),
  async run({ store, baseUrl }: Needs<'marks', 'baseUrl'>, input) {
    const { items, total } = await store.marks.listHeld({ limit: input.perPage, offset: (input.page - 1) * input.perPage })
    return { ...toItemLists(items, baseUrl), ...toPage(input, total) }
  },
})
