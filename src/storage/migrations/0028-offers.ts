import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** Items that are offered to another owner, until somebody answers. No answer that is cached shows them. */
export async function createOffers(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('item_offer')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('item_seq', 'integer', (c) => c.notNull().unique().references('item.seq').onDelete('cascade'))
    .addColumn('to_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('by_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('leaves_out_private', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('item_offer_to').on('item_offer').column('to_seq').execute()
  await db.schema.createIndex('item_offer_by').on('item_offer').column('by_seq').execute()
}
