import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** What several instances of the service share beside the library: how often it was written to, what they tell each other, and what they count. */
export async function createInstances(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('write_count')
    .addColumn('count', 'bigint', (c) => c.notNull())
    .execute()
  await db.withTables<{ write_count: { count: number } }>().insertInto('write_count').values({ count: 0 }).execute()
  await db.schema
    .createTable('instance_mail')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('instance', 'text', (c) => c.notNull())
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('instance_mail_to').on('instance_mail').columns(['instance', 'seq']).execute()
  await db.schema.createIndex('instance_mail_age').on('instance_mail').column('created_at').execute()
  await db.schema
    .createTable('counter')
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('ends_at', 'text', (c) => c.notNull())
    .addColumn('points', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('counter_key', ['name', 'ends_at'])
    .execute()
  await db.schema.createIndex('counter_end').on('counter').column('ends_at').execute()
  // Whose turn it is to embed an item: taken for a while, so that two instances do not pay for it twice.
  await db.schema
    .createTable('embedding_claim')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('instance', 'text', (c) => c.notNull())
    .addColumn('until', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('embedding_claim_key', ['item_seq', 'model'])
    .execute()
}
