import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** What the built-in encoder says all items mean, by model. Answers show it, so each change raises the revision of the library. */
export async function createItemVectors(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('item_vector')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('vector', sql.raw(dialect.blobType), (c) => c.notNull())
    .addUniqueConstraint('item_vector_item', ['item_seq', 'model'])
    .execute()
  await db.schema.createIndex('item_vector_model').on('item_vector').columns(['model', 'seq']).execute()
  await dialect.addRevisionTriggers(db, 'library', [{ table: 'item_vector' }])
}
