import type { Kysely } from 'kysely'
import { AppError, invalidInput } from '../../errors.ts'
import type { CategoryStore } from '../../library/ports/categories.ts'
import type { Database } from '../schema.ts'
import type { ItemQueries } from './item-queries.ts'
import type { WriteContext } from './write-items.ts'

async function findCategory(db: Kysely<Database>, slug: string) {
  return await db.selectFrom('category').selectAll().where('slug', '=', slug).executeTakeFirst()
}

/** Categories and tags, with the number of items the actor sees in them. */
export function readCategories(queries: ItemQueries): Pick<CategoryStore, 'listCategories' | 'listTags'> {
  return {
    listCategories: queries.listCategories,
    async listTags(actor, { limit, offset }) {
      const tags = await queries.countTags(actor)
      return { items: tags.slice(offset, offset + limit), total: tags.length }
    },
  }
}

/** Writes of categories. */
export function writeCategories(context: WriteContext): Pick<CategoryStore, 'createCategory' | 'renameCategory' | 'deleteCategory'> {
  return {
    createCategory: (category) =>
      context.transact(async (db, notes) => {
        if (await findCategory(db, category.slug)) throw new AppError('conflict', `There is a category "${category.slug}" already.`)
        const parent = category.parent === null ? null : await findCategory(db, category.parent)
        if (category.parent !== null && (!parent || parent.parent_seq !== null)) {
          throw invalidInput('parent', `parent "${category.parent.slice(0, 80)}" is no category of the first level.`)
        }
        const { last } = await db
          .selectFrom('category')
          .select((eb) => eb.fn.max('position').as('last'))
          .where('parent_seq', parent ? '=' : 'is', parent?.seq ?? null)
          .executeTakeFirstOrThrow()
        const { seq } = await db
          .insertInto('category')
          .values({
            slug: category.slug,
            name: category.name,
            parent_seq: parent?.seq ?? null,
            position: last === null ? 0 : Number(last) + 1,
          })
          .returning('seq')
          .executeTakeFirstOrThrow()
        notes.audit({ action: 'category_created', targetId: String(seq), ownerId: null })
      }),
    renameCategory: (slug, name) =>
      context.transact(async (db, notes) => {
        const renamed = await db.updateTable('category').set({ name }).where('slug', '=', slug).returning('seq').executeTakeFirst()
        if (renamed) notes.audit({ action: 'category_renamed', targetId: String(renamed.seq), ownerId: null })
        return renamed !== undefined
      }),
    deleteCategory: (slug) =>
      context.transact(async (db, notes) => {
        const category = await findCategory(db, slug)
        if (!category) return false
        const child = await db.selectFrom('category').select('slug').where('parent_seq', '=', category.seq).limit(1).executeTakeFirst()
        const item = await db.selectFrom('item').select('seq').where('category_seq', '=', category.seq).limit(1).executeTakeFirst()
        if (child || item) {
          throw new AppError(
            'conflict',
            `The category "${slug}" is not empty: ${child ? `"${child.slug}" stands below it` : 'items are in it'}.`,
          )
        }
        await db.deleteFrom('category').where('seq', '=', category.seq).execute()
        notes.audit({ action: 'category_deleted', targetId: String(category.seq), ownerId: null })
        return true
      }),
  }
}
