import type { Kysely, SelectQueryBuilder } from 'kysely'
import { AppError, invalidInput } from '../../errors.ts'
import { isId } from '../../library/identifier.ts'
import type { ItemKind, Prompt, Skill } from '../../library/items.ts'
import type { MarkStore } from '../../library/ports.ts'
import type { Database } from '../schema.ts'
import { type ItemRow, selectItems, toPrompts, toSkills } from './item-rows.ts'
import { findVisibleRow } from './read-items.ts'
import type { WriteContext } from './write-items.ts'

/** Rows of either kind as items, in their order. */
async function toItems(db: Kysely<Database>, rows: readonly ItemRow[]): Promise<(Prompt | Skill)[]> {
  const items = [
    ...(await toPrompts(
      db,
      rows.filter((row) => row.kind === 'prompt'),
    )),
    ...(await toSkills(
      db,
      rows.filter((row) => row.kind === 'skill'),
    )),
  ]
  const byId = new Map(items.map((item) => [item.id, item]))
  return rows.flatMap((row) => byId.get(row.id) ?? [])
}

/** Items by row number, in the order asked for: sorting numbers over an index is cheap, sorting texts is not. */
async function readItems(db: Kysely<Database>, found: readonly { seq: number }[]): Promise<(Prompt | Skill)[]> {
  const seqs = found.map(({ seq }) => seq)
  if (seqs.length === 0) return []
  const rows = new Map((await selectItems(db).where('item.seq', 'in', seqs).execute()).map((row) => [row.seq, row]))
  return await toItems(
    db,
    seqs.flatMap((seq) => rows.get(seq) ?? []),
  )
}

async function countRows(query: SelectQueryBuilder<Database, 'item', object>): Promise<number> {
  const { n } = await query.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return Number(n)
}

async function findCategory(db: Kysely<Database>, slug: string) {
  return await db.selectFrom('category').selectAll().where('slug', '=', slug).executeTakeFirst()
}

/** What administrators say of items, categories, and lists by owner. */
export function markStore(reader: Kysely<Database>, context: WriteContext): MarkStore {
  const now = () => new Date(context.clock()).toISOString()
  const findById = async (db: Kysely<Database>, kind: ItemKind, id: string) =>
    isId(id)
      ? await selectItems(db)
          .where('item.kind', '=', kind)
          .where('item.id', '=', id)
          .where('item.deleted_at', 'is', null)
          .executeTakeFirst()
      : undefined
  return {
    async findMarks(actor, kind, ref) {
      const row = await findVisibleRow(reader, actor, kind, ref)
      if (!row) return null
      const userId = actor.kind === 'user' ? actor.userId : ''
      const owner = await reader.selectFrom('user').select('username').where('id', '=', row.owner_id).executeTakeFirstOrThrow()
      const vote = await reader
        .selectFrom('vote')
        .innerJoin('user', 'user.seq', 'vote.user_seq')
        .select('vote.item_seq')
        .where('vote.item_seq', '=', row.seq)
        .where('user.id', '=', userId)
        .executeTakeFirst()
      return {
        id: row.id,
        owner: owner.username,
        isOwner: row.owner_id === userId,
        hasVoted: vote !== undefined,
        version: row.version,
        isFeatured: row.featured_at !== null,
        isHeld: row.held_at !== null,
      }
    },
    setFeatured: (kind, id, isFeatured) =>
      context.transact(async (db, notes) => {
        const row = await findById(db, kind, id)
        if (row?.visibility !== 'public') return false
        await db
          .updateTable('item')
          .set({ featured_at: isFeatured ? now() : null })
          .where('seq', '=', row.seq)
          .execute()
        if (isFeatured !== (row.featured_at !== null)) {
          const action = isFeatured ? 'item_featured' : 'item_unfeatured'
          notes.audit({ action, targetId: row.id, ownerId: row.owner_id, detail: { kind } })
        }
        return true
      }),
    setHeld: (kind, id, isHeld) =>
      context.transact(async (db, notes) => {
        const row = await findById(db, kind, id)
        const isWanted = isHeld ? row?.visibility === 'public' : row?.held_at !== null
        if (!row || !isWanted) return false
        const lifted = row.held_from ?? row.visibility
        await db
          .updateTable('item')
          .set(
            isHeld
              ? { held_at: now(), held_from: 'public', visibility: 'unlisted', featured_at: null }
              : { held_at: null, held_from: null, visibility: lifted },
          )
          .where('seq', '=', row.seq)
          .execute()
        notes.index(row.seq, null)
        notes.changed({ kind, ownerId: row.owner_id, isPublic: true })
        notes.audit({ action: isHeld ? 'item_held' : 'item_released', targetId: row.id, ownerId: row.owner_id, detail: { kind } })
        return true
      }),
    async listFeatured(limit) {
      const rows = await selectItems(reader)
        .where('item.featured_at', 'is not', null)
        .where('item.visibility', '=', 'public')
        .where('item.deleted_at', 'is', null)
        .orderBy('item.featured_at', 'desc')
        .orderBy('item.seq', 'desc')
        .limit(limit)
        .execute()
      return await toItems(reader, rows)
    },
    async listHeld({ limit, offset }) {
      const held = reader
        .selectFrom('item')
        .where('held_at', 'is not', null)
        .where('visibility', '<>', 'private')
        .where('deleted_at', 'is', null)
      const seqs = await held.select('seq').orderBy('held_at', 'desc').orderBy('seq', 'desc').limit(limit).offset(offset).execute()
      return { items: await readItems(reader, seqs), total: await countRows(held) }
    },
    async listOwned(ownerId, { kind, visibility, limit, offset }) {
      const owner = await reader.selectFrom('user').select('seq').where('id', '=', ownerId).executeTakeFirst()
      if (!owner) return { items: [], total: 0 }
      let owned = reader.selectFrom('item').where('owner_seq', '=', owner.seq).where('kind', '=', kind).where('deleted_at', 'is', null)
      if (visibility !== null) owned = owned.where('visibility', '=', visibility)
      const seqs = await owned.select('seq').orderBy('updated_at', 'desc').orderBy('seq', 'desc').limit(limit).offset(offset).execute()
      return { items: await readItems(reader, seqs), total: await countRows(owned) }
    },
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
