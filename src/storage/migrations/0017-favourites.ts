import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Items that people marked for themselves; a mark goes with its item and with its reader. No answer for others shows one. */
export async function createFavourites(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('favourite')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('user_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('favourite_key', ['item_seq', 'user_seq'])
    .execute()
  await db.schema.createIndex('favourite_user').on('favourite').columns(['user_seq', 'created_at']).execute()
}
