import { type Kysely, sql } from 'kysely'
import { type Category, type ItemKind, type ItemOf, isOfKind } from '../../domain/items/items.ts'
import type { ExportedPrompt, ExportedSkill, ExportedTeam } from '../../domain/service/transfer.ts'
import { isOneOf } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { readFiles } from './item-parts.ts'
import { type ItemRow, selectItems, toItems } from './item-rows.ts'

/** Reads of an export: all items of one owner, or of everybody. For operators, who hold the database. */
export function exportReader(db: Kysely<Database>) {
  const itemsAfter = async <Kind extends ItemKind>(
    kind: Kind,
    ownerId: string | null,
    after: number,
    limit: number,
    ids?: readonly string[],
  ): Promise<{ row: ExportedRow; item: ItemOf<Kind> }[]> => {
    let query = selectItems(db).select('owner.username as owner_name').where('item.deleted_at', 'is', null).where('item.seq', '>', after)
    query =
      ownerId === null
        ? // No index is offered: going by that of the kind, SQLite would sort all items of it for every page.
          query.where((eb) => eb(eb.case().when('item.kind', '=', kind).then(1).else(0).end(), '=', 1))
        : query.where('item.kind', '=', kind).where('owner.id', '=', ownerId)
    if (ids) query = query.where(isOneOf('item.id', ids))
    const rows = await query.orderBy('item.seq').limit(limit).execute()
    const items = (await toItems(db, rows)).filter(isOfKind(kind))
    return rows.flatMap((row, place) => {
      const item = items[place]
      return item ? [{ row, item }] : []
    })
  }
  return {
    /** Everything one owner has (or all), or those of `ids`, in order of creation, a page at a time. The trash is left out. */
    async exportPrompts(ownerId: string | null, after: number, limit: number, ids?: readonly string[]): Promise<ExportedPrompt[]> {
      const prompts = await itemsAfter('prompt', ownerId, after, limit, ids)
      return prompts.map(({ row, item }) => ({ ...toExported(row), prompt: item }))
    },
    async exportSkills(ownerId: string | null, after: number, limit: number, ids?: readonly string[]): Promise<ExportedSkill[]> {
      const exported = []
      for (const { row, item } of await itemsAfter('skill', ownerId, after, limit, ids)) {
        exported.push({ ...toExported(row), skill: item, files: await readFiles(db, row.seq) })
      }
      return exported
    },
    /** The teams that own items outside the trash, by name: all, or one. */
    async exportTeams(ownerId: string | null): Promise<ExportedTeam[]> {
      let teams = db
        .selectFrom('user')
        .select(['username as name', 'display_name as displayName', 'bio as description', 'default_visibility as newItems'])
        .where('is_team', '=', 1)
        .where(sql<boolean>`exists (select 1 from item where item.owner_seq = "user".seq and item.deleted_at is null)`)
      if (ownerId !== null) teams = teams.where('id', '=', ownerId)
      return await teams.orderBy('username_key').execute()
    },
    /** Every category, each after its parent. */
    async exportCategories(): Promise<Category[]> {
      return await db
        .selectFrom('category')
        .leftJoin('category as parent', 'parent.seq', 'category.parent_seq')
        .select(['category.slug', 'category.name', 'parent.slug as parent'])
        .orderBy((eb) => eb.case().when('category.parent_seq', 'is', null).then(0).else(1).end())
        .orderBy('parent.position')
        .orderBy('category.position')
        .orderBy('category.seq')
        .execute()
    },
  }
}

type ExportedRow = ItemRow & { readonly owner_name: string }

function toExported(row: ExportedRow) {
  const held = row.held_at === null ? null : { at: row.held_at, from: row.held_from }
  return { order: row.seq, owner: row.owner_name, held }
}

/** Reads items for exports. */
export type ExportReader = ReturnType<typeof exportReader>
