import { z } from 'zod'
import { AppError, invalidInput } from '../../errors.ts'
import { categoryNameField } from '../../library/category-name.ts'
import { isSlug, slugify } from '../../library/slug.ts'
import { defineOperation, type Needs } from '../core/define-operation.ts'

const slugInput = z.string().max(64)

export const countLibrary = defineOperation({
  name: 'count_library',
  title: 'Count the library',
  summary: 'Count items, versions, people and keys.',
  scope: 'admin',
  surfaces: {},
  input: z.object({}),
  output: z.object({
    prompts: z.number(),
    skills: z.number(),
    inTrash: z.number(),
    versions: z.number(),
    people: z.number(),
    logins: z.number(),
    keys: z.number().describe('Not revoked'),
  }),
  run: async ({ store }) => ({ ...(await store.people.countLibrary()) }),
})

export const createCategory = defineOperation({
  name: 'create_category',
  title: 'Create a category',
  summary: 'Create a category at the top level or below another.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ name: categoryNameField, slug: slugInput.optional(), parent: slugInput.optional() }),
  output: z.object({ slug: z.string() }),
  async run({ store }: Needs<'categories'>, input) {
    const slug = input.slug || slugify(input.name)
    if (!isSlug(slug)) throw invalidInput('slug', 'slug must be 1 to 64 characters of a-z, 0-9 and single hyphens.')
    await store.categories.createCategory({ slug, name: input.name, parent: input.parent || null })
    return { slug }
  },
})

export const renameCategory = defineOperation({
  name: 'rename_category',
  title: 'Rename a category',
  summary: 'Rename a category; its slug stays.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ slug: slugInput, name: categoryNameField }),
  output: z.object({ success: z.literal(true) }),
  async run({ store }: Needs<'categories'>, { slug, name }) {
    if (!(await store.categories.renameCategory(slug, name))) throw new AppError('not_found', 'Category not found.')
    return { success: true as const }
  },
})

export const moveCategory = defineOperation({
  name: 'move_category',
  title: 'Move a category',
  summary: 'Move a category below another, or to the top level.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ slug: slugInput, parent: slugInput.nullable() }),
  output: z.object({ success: z.literal(true) }),
  async run({ store }: Needs<'categories'>, { slug, parent }) {
    if (!(await store.categories.moveCategory(slug, parent || null))) throw new AppError('not_found', 'Category not found.')
    return { success: true as const }
  },
})

export const mergeCategory = defineOperation({
  name: 'merge_category',
  title: 'Merge a category',
  summary: 'Move everything in a category into another, and remove it.',
  scope: 'admin',
  writes: true,
  cost: 20,
  surfaces: {},
  input: z.object({ slug: slugInput, into: slugInput }),
  output: z.object({ moved: z.number().int().describe('Items, the trash included') }),
  async run({ store }: Needs<'categories'>, { slug, into }) {
    const moved = await store.categories.mergeCategory(slug, into)
    if (moved === null) throw new AppError('not_found', 'Category not found.')
    return { moved }
  },
})

export const deleteCategory = defineOperation({
  name: 'delete_category',
  title: 'Delete a category',
  summary: 'Delete an empty category.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ slug: slugInput }),
  output: z.object({ success: z.literal(true) }),
  async run({ store }: Needs<'categories'>, { slug }) {
    if (!(await store.categories.deleteCategory(slug))) throw new AppError('not_found', 'Category not found.')
    return { success: true as const }
  },
})
