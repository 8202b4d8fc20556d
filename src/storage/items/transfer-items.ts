import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { ExportedTwin, ImportedTwin, KnownItem } from '../../domain/items/item-access.ts'
import type { Category, ItemKind, ItemOf } from '../../domain/items/items.ts'
import type { ExportedPrompt, ExportedSkill, ExportedTeam } from '../../domain/service/transfer.ts'
import { isOneOf, prepareQuery, prepareStatement, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { readFiles } from './item-parts.ts'
import { type ItemRow, readRowsAs, selectItems } from './item-rows.ts'

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
    return await readRowsAs(db, rows, kind)
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

/** Items of one title that an import compares: they are read with their texts. */
const MAX_TWINS = 200
const ofImport = (item: SelectQueryBuilder<Database, 'item', object>) =>
  item
    .leftJoin('import_source', 'import_source.item_seq', 'item.seq')
    .select('item.seq')
    .where('item.owner_seq', '=', (eb) => eb.selectFrom('user').select('user.seq').where('user.id', '=', slot('ownerId')))
    .where('item.author_seq', '=', (eb) => eb.selectFrom('user').select('user.seq').where('user.id', '=', slot('authorId')))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where('item.title', '=', slot('title'))
    .orderBy(sql`case when import_source.source = ${slot('source')} then 0 else 1 end`)
    .orderBy('item.seq')
const firstImported = prepareQuery((db) => ofImport(db.selectFrom('item')).limit(1))
const importedRows = prepareQuery<ItemRow & { source: string | null }>((db) =>
  selectItems(db)
    .leftJoin('import_source', 'import_source.item_seq', 'item.seq')
    .select('import_source.source')
    .where('item.seq', 'in', ofImport(db.selectFrom('item')).limit(MAX_TWINS))
    .orderBy('item.seq'),
)

const exportedRow = prepareQuery<ItemRow & { author_id: string }>((db) =>
  selectItems(db)
    .select('author.id as author_id')
    .where('item.id', '=', slot('id'))
    .where('owner.id', '=', slot('ownerId'))
    .where('author.username_key', '=', slot('author'))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where('item.title', '=', slot('title')),
)

const countBelow = prepareQuery((db) =>
  db
    .selectFrom('import_source')
    .innerJoin('item', 'item.seq', 'import_source.item_seq')
    .innerJoin('user', 'user.seq', 'item.owner_seq')
    .where('user.id', '=', slot('ownerId'))
    .where(sql<boolean>`substr(import_source.source, 1, length(cast(${slot('folder')} as text))) = ${slot('folder')}`)
    .select((eb) => eb.fn.countAll<number>().as('count')),
)
const keepSource = prepareStatement(sql`
  insert into import_source (item_seq, source) select seq, cast(${slot('source')} as text) from item where id = ${slot('id')}
  on conflict (item_seq) do update set source = excluded.source`)

/** Notes where an import found an item. */
export async function keepImportSource(db: Kysely<Database>, id: string, source: string): Promise<void> {
  await keepSource(db, { id, source })
}

/** Look-ups of items that an import may mean. */
export function findTwins(reader: Kysely<Database>) {
  return {
    /** An owner's items of an author and a title, those that were imported from `source` first. */
    async findImported<Kind extends ItemKind>(
      kind: Kind,
      ownerId: string,
      authorId: string,
      title: string,
      source = '',
    ): Promise<ImportedTwin<ItemOf<Kind>>[]> {
      const named = { ownerId, authorId, title, kind, source }
      // Most entries are new: asking for one number first costs a tenth of a query for whole rows, even when that finds none.
      if ((await firstImported(reader, named)).length === 0) return []
      const rows = await importedRows(reader, named)
      return (await readRowsAs(reader, rows, kind)).map(({ item, row: { imported_version: imported, version, source } }) => ({
        item,
        isEditedHere: imported !== version,
        ...(source === null ? {} : { source }),
      }))
    },
    /** The item of an id, when an export has it with the same owner, author and title. */
    async findExported<Kind extends ItemKind>(
      kind: Kind,
      { ownerId, id, title, author }: KnownItem,
    ): Promise<ExportedTwin<ItemOf<Kind>> | null> {
      const rows = await exportedRow(reader, { ownerId, id, title, author: author.toLowerCase(), kind })
      const [found] = await readRowsAs(reader, rows, kind)
      if (!found) return null
      const { row, item } = found
      return { item, isEditedHere: row.imported_version !== row.version, authorId: row.author_id }
    },
    /** The number of an owner's items that imports found below a folder. */
    countImportedBelow: async (ownerId: string, folder: string): Promise<number> =>
      Number((await countBelow(reader, { ownerId, folder: `${folder}/` }))[0]?.count),
  }
}
