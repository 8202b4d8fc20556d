import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** Labels of versions, with every move of them, and what owners say of a label. */
export async function createLabels(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('label')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('weight', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('label_key', ['item_seq', 'name', 'version'])
    .execute()
  await db.schema.createIndex('label_name').on('label').columns(['name', 'item_seq']).execute()
  await db.schema
    .createTable('label_move')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('moved_from', 'text')
    .addColumn('moved_to', 'text')
    .addColumn('reason', 'text')
    .addColumn('user_seq', 'integer', (c) => c.references('user.seq').onDelete('set null'))
    .addColumn('moved_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('label_move_item').on('label_move').columns(['item_seq', 'seq']).execute()
  await db.schema.createIndex('label_move_user').on('label_move').column('user_seq').execute()
  await db.schema
    .createTable('label_rule')
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('is_protected', 'integer', (c) => c.notNull())
    .addColumn('is_automatic', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('label_rule_key', ['owner_seq', 'name'])
    .execute()
}
