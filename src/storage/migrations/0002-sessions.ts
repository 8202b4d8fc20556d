import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** Sessions of MCP clients, as plain records: any instance of the service can take one up. */
export async function createSessions(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('session')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('sha256', 'text', (c) => c.notNull().unique())
    .addColumn('owner', 'text', (c) => c.notNull())
    .addColumn('quota', 'text', (c) => c.notNull())
    .addColumn('initialize', 'text', (c) => c.notNull())
    .addColumn('holder', 'text')
    .addColumn('seen_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('session_quota').on('session').columns(['quota', 'seen_at']).execute()
  await db.schema.createIndex('session_seen').on('session').column('seen_at').execute()
}
