import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { ItemKind, Prompt, Skill } from '../../library/items.ts'
import type { ExportedTwin, ImportedTwin, ItemWriter, KnownItem } from '../../library/ports/items.ts'
import { firstOf, prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { type ItemRow, selectItems, toPrompts, toSkills } from './item-rows.ts'

/** Items of one title that an import compares: they are read with their texts. */
const MAX_TWINS = 200
const ofImport = (item: SelectQueryBuilder<Database, 'item', object>) =>
  item
    .select('item.seq')
    .where('item.owner_seq', '=', (eb) => eb.selectFrom('user').select('user.seq').where('user.id', '=', slot('ownerId')))
    .where('item.author_seq', '=', (eb) => eb.selectFrom('user').select('user.seq').where('user.id', '=', slot('authorId')))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where('item.title', '=', slot('title'))
    .orderBy('item.seq')
const firstImported = prepareQuery((db) => ofImport(db.selectFrom('item')).limit(1))
const importedRows = prepareQuery<ItemRow>((db) =>
  selectItems(db)
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

/** What an import finds again. */
export function findTwins(reader: Kysely<Database>): Pick<ItemWriter, 'findImported' | 'findExported'> {
  async function findImported(kind: 'prompt', ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Prompt>[]>
  async function findImported(kind: 'skill', ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Skill>[]>
  async function findImported(kind: ItemKind, ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Prompt | Skill>[]> {
    const named = { ownerId, authorId, title, kind }
    // Most entries are new: asking for one number first costs a tenth of a query for whole rows, even when that finds none.
    if ((await firstImported(reader, named)).length === 0) return []
    const rows = await importedRows(reader, named)
    const items: (Prompt | Skill)[] = kind === 'prompt' ? await toPrompts(reader, rows) : await toSkills(reader, rows)
    return items.flatMap((item, index) => {
      const row = rows[index]
      return row ? [{ item, isEditedHere: row.imported_version !== row.version }] : []
    })
  }
  async function findExported(kind: 'prompt', known: KnownItem): Promise<ExportedTwin<Prompt> | null>
  async function findExported(kind: 'skill', known: KnownItem): Promise<ExportedTwin<Skill> | null>
  async function findExported(kind: ItemKind, { ownerId, id, title, author }: KnownItem): Promise<ExportedTwin<Prompt | Skill> | null> {
    const [row] = await exportedRow(reader, { ownerId, id, title, author: author.toLowerCase(), kind })
    if (!row) return null
    const item = await (kind === 'prompt' ? firstOf<Prompt | Skill>(toPrompts(reader, [row])) : firstOf(toSkills(reader, [row])))
    return { item, isEditedHere: row.imported_version !== row.version, authorId: row.author_id }
  }
  return { findImported, findExported }
}
