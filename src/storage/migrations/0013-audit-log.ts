import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** What was done to the library, by ids alone: they refer to nothing, as events outlive what they are about. */
export async function createAuditLog(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('audit_event')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('at', 'text', (c) => c.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('key_id', 'text')
    .addColumn('surface', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('target_id', 'text')
    .addColumn('owner_id', 'text')
    .addColumn('detail', 'text', (c) => c.notNull())
    .execute()
  for (const column of ['actor_id', 'owner_id', 'target_id', 'action'] as const) {
    await db.schema.createIndex(`audit_event_${column}`).on('audit_event').columns([column, 'seq']).execute()
  }
  await db.schema.createIndex('audit_event_at').on('audit_event').column('at').execute()
}
