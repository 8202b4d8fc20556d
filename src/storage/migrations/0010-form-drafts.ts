import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Forms that people are still writing; they go with their owner. */
export async function createFormDrafts(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('form_draft')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('form_draft_owner').on('form_draft').columns(['owner_seq', 'created_at']).execute()
}
