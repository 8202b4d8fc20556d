import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** Imports that people began on a page, with their entries; they go with their owner, or after a day. */
export async function createImports(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('import')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('visibility', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('import_owner').on('import').columns(['owner_seq', 'created_at']).execute()
  await db.schema
    .createTable('import_entry')
    .addColumn('import_seq', 'integer', (c) => c.notNull().references('import.seq').onDelete('cascade'))
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('title', 'text')
    .addColumn('kind', 'text')
    .addColumn('body', 'text')
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('remark', 'text')
    .addColumn('is_done', 'integer', (c) => c.notNull())
    .addColumn('item_id', 'text')
    .addPrimaryKeyConstraint('import_entry_pk', ['import_seq', 'number'])
    .execute()
}
