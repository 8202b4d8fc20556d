import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** What callers spent on improving prompts, by day. */
export async function createImproveUsage(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('improve_usage')
    .addColumn('caller', 'text', (c) => c.notNull())
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('requests', 'integer', (c) => c.notNull())
    .addColumn('characters', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('improve_usage_key', ['caller', 'day'])
    .execute()
}
