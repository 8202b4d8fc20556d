import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** What was deleted for good, by ids alone, so that restoring a backup does not bring it back. */
export async function createPurges(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('purge')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_id', 'text', (c) => c.notNull())
    .addColumn('first_version', 'integer')
    .addColumn('last_version', 'integer')
    .addColumn('file_key', 'text')
    .addColumn('made_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('purge_item').on('purge').column('item_id').execute()
  await db.schema.createIndex('item_deleted').on('item').columns(['deleted_at', 'seq']).where('deleted_at', 'is not', null).execute()
}
