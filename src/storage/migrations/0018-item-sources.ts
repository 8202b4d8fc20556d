import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * The item that another was copied from. It is written with the copy and never changed, so it raises no revision of its own. The source is
 * named by its id, which outlives it and tells nothing.
 */
export async function createItemSources(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('item_source')
    .addColumn('item_seq', 'integer', (c) => c.primaryKey().references('item.seq').onDelete('cascade'))
    .addColumn('source_id', 'text', (c) => c.notNull())
    .execute()
}
