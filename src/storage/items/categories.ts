import type { Kysely } from 'kysely'
import type { Category } from '../../domain/items/items.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { Database } from '../schema.ts'
import type { ItemQueries } from './item-queries.ts'
import type { WriteContext } from './write-context.ts'

async function findCategory(db: Kysely<Database>, slug: string) {
  return await db.selectFrom('category').selectAll().where('slug', '=', slug).executeTakeFirst()
}

/** The place after all others of a level. */
async function nextPosition(db: Kysely<Database>, parentSeq: number | null): Promise<number> {
  const { last } = await db
    .selectFrom('category')
    .select((eb) => eb.fn.max('position').as('last'))
    .where('parent_seq', parentSeq === null ? 'is' : '=', parentSeq)
    .executeTakeFirstOrThrow()
  return last === null ? 0 : Number(last) + 1
}

async function hasChildren(db: Kysely<Database>, seq: number): Promise<boolean> {
  return (await db.selectFrom('category').select('seq').where('parent_seq', '=', seq).limit(1).executeTakeFirst()) !== undefined
}

/** Categories and tags, with the number of items the actor sees in them. */
export function readCategories(queries: ItemQueries) {
  return {
    /** Categories with the number of items of either kind the actor sees in them, children not counted in. */
    listCategories: queries.listCategories,
    async listTags(
      actor: Actor,
      { limit, offset }: { limit: number; offset: number },
    ): Promise<SearchResult<{ slug: string; name: string; count: number }>> {
      const tags = await queries.countTags(actor)
      return { items: tags.slice(offset, offset + limit), total: tags.length }
    },
  }
}

/** Writes of categories. */
export function writeCategories(context: WriteContext) {
  return {
    /** @throws AppError `conflict` when the slug is taken, `invalid_input` for a parent that is none */
    createCategory: (category: Category): Promise<void> =>
      context.transact(async (db, notes) => {
        if (await findCategory(db, category.slug)) throw new AppError('conflict', `There is a category "${category.slug}" already.`)
        const parent = category.parent === null ? null : await findCategory(db, category.parent)
        if (category.parent !== null && (!parent || parent.parent_seq !== null)) {
          throw invalidInput('parent', `parent "${category.parent.slice(0, 80)}" is no category of the first level.`)
        }
        const { seq } = await db
          .insertInto('category')
          .values({
            slug: category.slug,
            name: category.name,
            parent_seq: parent?.seq ?? null,
            position: await nextPosition(db, parent?.seq ?? null),
          })
          .returning('seq')
          .executeTakeFirstOrThrow()
        notes.audit({ action: 'category_created', targetId: String(seq), ownerId: null })
      }),
    /** False when there is none. */
    renameCategory: (slug: string, name: string): Promise<boolean> =>
      context.transact(async (db, notes) => {
        const renamed = await db.updateTable('category').set({ name }).where('slug', '=', slug).returning('seq').executeTakeFirst()
        if (renamed) notes.audit({ action: 'category_renamed', targetId: String(renamed.seq), ownerId: null })
        return renamed !== undefined
      }),
    /** To the end of those below `parent`, or of the first level. False when there is none. @throws AppError `invalid_input` for a parent that cannot be one */
    moveCategory: (slug: string, parent: string | null): Promise<boolean> =>
      context.transact(async (db, notes) => {
        const category = await findCategory(db, slug)
        if (!category) return false
        const above = parent === null ? null : await findCategory(db, parent)
        if (parent !== null && (!above || above.parent_seq !== null || above.seq === category.seq)) {
          throw invalidInput('parent', `A category cannot be moved below "${parent.slice(0, 80)}".`)
        }
        if (above && (await hasChildren(db, category.seq))) {
          throw invalidInput('parent', `"${category.name}" has categories below it, and cannot be moved below another.`)
        }
        if (category.parent_seq === (above?.seq ?? null)) return true
        const parent_seq = above?.seq ?? null
        await db
          .updateTable('category')
          .set({ parent_seq, position: await nextPosition(db, parent_seq) })
          .where('seq', '=', category.seq)
          .execute()
        notes.audit({ action: 'category_moved', targetId: String(category.seq), ownerId: null })
        return true
      }),
    /**
     * Puts the items of a category, and the categories below it, into another, and removes it. All or nothing.
     * @returns how many items; null without the category
     * @throws AppError `invalid_input` for a target that is none, `conflict` when categories would stand on a third level
     */
    mergeCategory: (slug: string, into: string): Promise<number | null> =>
      context.transact(
        async (db, notes) => {
          const category = await findCategory(db, slug)
          if (!category) return null
          const target = await findCategory(db, into)
          if (!target || target.seq === category.seq) throw invalidInput('into', `There is no other category "${into.slice(0, 80)}".`)
          const hasOthers = await hasChildren(db, category.seq)
          if (hasOthers && target.parent_seq !== null) {
            const message = `"${category.name}" has categories below it, and "${target.name}" is below another. Move one of them first.`
            throw new AppError('conflict', message, { details: [{ path: 'into', message }] })
          }
          if (hasOthers) {
            const first = await nextPosition(db, target.seq)
            await db
              .updateTable('category')
              .set((eb) => ({ parent_seq: target.seq, position: eb('position', '+', first) }))
              .where('parent_seq', '=', category.seq)
              .execute()
          }
          const moved = await db
            .updateTable('item')
            .set({ category_seq: target.seq })
            .where('category_seq', '=', category.seq)
            .returning('seq')
            .execute()
          const seqs = moved.map(({ seq }) => seq)
          for (const seq of seqs) notes.index(seq, null)
          // Older versions can still be restored.
          await db.updateTable('version').set({ category: target.slug }).where('category', '=', category.slug).execute()
          await db.deleteFrom('category').where('seq', '=', category.seq).execute()
          const detail = { into: String(target.seq), updated: moved.length }
          notes.audit({ action: 'category_merged', targetId: String(category.seq), ownerId: null, detail })
          return moved.length
        },
        { isLarge: true },
      ),
    /** False when there is none. @throws AppError `conflict` while items or categories are in it */
    deleteCategory: (slug: string): Promise<boolean> =>
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
