import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Configurations of embeds that people keep; they go with their owner. */
export async function createEmbeds(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('embed')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('config', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('embed_owner').on('embed').columns(['owner_seq', 'created_at']).execute()
}
