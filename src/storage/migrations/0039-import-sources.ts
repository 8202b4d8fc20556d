import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Where an import found each item, so that the next one finds the item of a path again. Items imported before this have none. */
export async function createImportSources(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('import_source')
    .addColumn('item_seq', 'integer', (c) => c.primaryKey().references('item.seq').onDelete('cascade'))
    .addColumn('source', 'text', (c) => c.notNull())
    .execute()
}
