import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { ExportedTwin, ImportedTwin, KnownItem } from '../../domain/items/item-access.ts'
import { type ItemKind, type ItemOf, isOfKind } from '../../domain/items/items.ts'
import { prepareQuery, prepareStatement, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { type ItemRow, selectItems, toItems } from './item-rows.ts'

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
      const items = (await toItems(reader, rows)).filter(isOfKind(kind))
      return items.flatMap((item, index) => {
        const row = rows[index]
        if (!row) return []
        return [{ item, isEditedHere: row.imported_version !== row.version, ...(row.source === null ? {} : { source: row.source }) }]
      })
    },
    /** The item of an id, when an export has it with the same owner, author and title. */
    async findExported<Kind extends ItemKind>(
      kind: Kind,
      { ownerId, id, title, author }: KnownItem,
    ): Promise<ExportedTwin<ItemOf<Kind>> | null> {
      const [row] = await exportedRow(reader, { ownerId, id, title, author: author.toLowerCase(), kind })
      const [item] = row ? (await toItems(reader, [row])).filter(isOfKind(kind)) : []
      return row && item ? { item, isEditedHere: row.imported_version !== row.version, authorId: row.author_id } : null
    },
    /** The number of an owner's items that imports found below a folder. */
    countImportedBelow: async (ownerId: string, folder: string): Promise<number> =>
      Number((await countBelow(reader, { ownerId, folder: `${folder}/` }))[0]?.count),
  }
}
