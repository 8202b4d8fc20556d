import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { collectionInput, kindOf, notFound, pageInputs, refInput, toPage } from '../core/inputs.ts'
import { defineProcedure, type Needs } from '../core/procedure.ts'
import { toItemLists } from '../core/records.ts'

/** Items on the first page. */
const MAX_FEATURED = 12

/** The signed-in reader's relation to an item. */
export const showMarks = defineProcedure({
  scope: 'account',
  input: z.object({ collection: collectionInput, id: refInput }),
  async run({ actor, store }: Needs<'marks'>, input) {
    const kind = kindOf(input.collection)
    const marks = await store.marks.findMarks(actor, kind, input.id)
    if (!marks) throw notFound(kind)
    return { ...marks }
  },
})

/** The public items featured on the home page. */
export const listFeatured = defineProcedure({
  scope: null,
  input: z.object({ limit: z.number().int().min(1).max(MAX_FEATURED).default(6) }),
  async run({ store, baseUrl }: Needs<'marks', 'baseUrl'>, { limit }) {
    return toItemLists(await store.marks.listFeatured(limit), baseUrl)
  },
})

/** Feature a public item on the home page, or stop featuring it. */
export const setFeatured = defineProcedure({
  scope: 'admin',
  writes: true,
  input: z.object({ collection: collectionInput, id: refInput, isFeatured: z.boolean() }),
  async run({ actor, store }: Needs<'marks'>, input) {
    const kind = kindOf(input.collection)
    const marks = await store.marks.findMarks(actor, kind, input.id)
    if (!marks || !(await store.marks.setFeatured(kind, marks.id, input.isFeatured))) throw notFound(kind)
  },
})

/** Make a public item unlisted so that its owner cannot undo it, or undo that. */
export const setHeld = defineProcedure({
  scope: 'admin',
  writes: true,
  input: z.object({ collection: collectionInput, id: refInput, isHeld: z.boolean() }),
  async run({ actor, store }: Needs<'marks'>, input) {
    const kind = kindOf(input.collection)
    const marks = await store.marks.findMarks(actor, kind, input.id)
    if (!marks) throw notFound(kind)
    if (!(await store.marks.setHeld(kind, marks.id, input.isHeld))) {
      throw new AppError('conflict', input.isHeld ? 'Only public items can be unlisted.' : 'This item is not unlisted by an administrator.')
    }
    return { id: marks.id }
  },
})

/** Items unlisted by administrators, newest first. */
export const listHeld = defineProcedure({
  scope: 'admin',
  input: z.object(pageInputs),
  async run({ store, baseUrl }: Needs<'marks', 'baseUrl'>, input) {
    const { items, total } = await store.marks.listHeld({ limit: input.perPage, offset: (input.page - 1) * input.perPage })
    return { ...toItemLists(items, baseUrl), ...toPage(input, total) }
  },
})
