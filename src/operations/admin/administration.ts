import { z } from 'zod'
import { categoryNameField } from '../../domain/items/category-name.ts'
import { isSlug, slugify } from '../../domain/items/slug.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { defineProcedure, defineWrite, type Needs } from '../core/procedure.ts'

const slugInput = z.string().max(64)

/** Count items, versions, people and keys. */
export const countLibrary = defineProcedure({
  scope: 'admin',
  run: async ({ store }) => ({ ...(await store.people.countLibrary()) }),
})

/** Create a category at the top level or below another. */
export const createCategory = defineWrite({
  scope: 'admin',
  input: z.object({ name: categoryNameField, slug: slugInput.optional(), parent: slugInput.optional() }),
  async run({ store }: Needs<'categories'>, input) {
    const slug = input.slug || slugify(input.name)
    if (!isSlug(slug)) throw invalidInput('slug', 'slug must be 1 to 64 characters of a-z, 0-9 and single hyphens.')
    await store.categories.createCategory({ slug, name: input.name, parent: input.parent || null })
    return { slug }
  },
})

/** Rename a category; its slug stays. */
export const renameCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput, name: categoryNameField }),
  async run({ store }: Needs<'categories'>, { slug, name }) {
    if (!(await store.categories.renameCategory(slug, name))) throw new AppError('not_found', 'Category not found.')
  },
})

/** Move a category below another, or to the top level. */
export const moveCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput, parent: slugInput.nullable() }),
  async run({ store }: Needs<'categories'>, { slug, parent }) {
    if (!(await store.categories.moveCategory(slug, parent || null))) throw new AppError('not_found', 'Category not found.')
  },
})

/** Move everything in a category into another, and remove it. */
export const mergeCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput, into: slugInput }),
  async run({ store }: Needs<'categories'>, { slug, into }) {
    const moved = await store.categories.mergeCategory(slug, into)
    if (moved === null) throw new AppError('not_found', 'Category not found.')
    return { moved }
  },
})

/** Delete an empty category. */
export const deleteCategory = defineWrite({
  scope: 'admin',
  input: z.object({ slug: slugInput }),
  async run({ store }: Needs<'categories'>, { slug }) {
    if (!(await store.categories.deleteCategory(slug))) throw new AppError('not_found', 'Category not found.')
  },
})

/** The figures of a library at a glance. */
export const showServiceStatus = defineProcedure({
  scope: 'admin',
  async run({ readStatus }: Needs<never, 'readStatus'>) {
    if (!readStatus) throw new AppError('unavailable', 'Only a running service has a status.')
    return { ...(await readStatus()) }
  },
})
