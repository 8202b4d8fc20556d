import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** The id of a session of an MCP client is a sealed token: only sessions that were ended are kept, and processes leave each other no mail. */
export async function sealSessions(db: Kysely<Database>): Promise<void> {
  await db.schema.dropTable('session').execute()
  await db.schema.dropTable('instance_mail').execute()
  await db.schema
    .createTable('ended_session')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('ends_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('ended_session_ends').on('ended_session').column('ends_at').execute()
}
