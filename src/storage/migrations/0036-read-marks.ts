import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * Which transactions a replica must have replayed before it may answer somebody. A row says that a transaction was the caller's, or that it
 * narrowed what somebody may see. Triggers write the rows where an engine has replicas; elsewhere the table is empty.
 */
export async function createReadMarks(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('read_mark')
    .addColumn('caller', 'text', (c) => c.notNull())
    .addColumn('xid', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('read_mark_key', ['caller', 'xid'])
    .execute()
  await db.schema.createIndex('read_mark_xid').on('read_mark').column('xid').execute()
  await dialect.markTransactions(db)
}
