import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** How often items, keys and the library are used, by day. No trigger is on it: no answer that is cached shows it. */
export async function createUseCounts(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('use_count')
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('surface', 'text', (c) => c.notNull())
    .addColumn('item_id', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('count', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('use_count_key', ['day', 'kind', 'surface', 'item_id', 'version', 'key_id'])
    .execute()
  await db.schema.createIndex('use_count_item').on('use_count').columns(['item_id', 'day']).execute()
  await db.schema.createIndex('use_count_caller').on('use_count').columns(['key_id', 'day']).execute()
}
