import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * What `sync` last left on both sides, for each user, folder and path. `item_id` is of an item that may be gone: the row then says that the
 * file was synced before, so that the file does not come back as a new item. No answer shows it: it raises no revision.
 */
export async function createSyncStates(db: Kysely<Database>, _dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('sync_state')
    .addColumn('user_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('item_id', 'text', (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('library_digest', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('sync_state_key', ['user_seq', 'target', 'path'])
    .execute()
}
