import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * Collections of items. They go with their owner, and an item that is deleted for good leaves them. Every slug is kept, also that of a deleted
 * collection, so that no address leads to another one. Lists and channels are narrowed to collections, so changes raise the revision.
 */
export async function createCollections(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('collection')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('slug', 'text', (c) => c.notNull().unique())
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('title_key', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('visibility', 'text', (c) => c.notNull())
    .addColumn('was_public', 'integer', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('collection_owner').on('collection').column('owner_seq').execute()
  await db.schema.createIndex('collection_visibility').on('collection').columns(['visibility', 'created_at']).execute()
  await db.schema
    .createTable('collection_slug')
    .addColumn('slug', 'text', (c) => c.primaryKey())
    .addColumn('collection_seq', 'integer', (c) => c.references('collection.seq').onDelete('set null'))
    .execute()
  await db.schema.createIndex('collection_slug_collection').on('collection_slug').column('collection_seq').execute()
  await db.schema
    .createTable('collection_item')
    .addColumn('collection_seq', 'integer', (c) => c.notNull().references('collection.seq').onDelete('cascade'))
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('collection_item_key', ['collection_seq', 'item_seq'])
    .execute()
  await db.schema.createIndex('collection_item_place').on('collection_item').columns(['collection_seq', 'position']).execute()
  await db.schema.createIndex('collection_item_item').on('collection_item').column('item_seq').execute()
  await dialect.addRevisionTriggers(
    db,
    'library',
    ['collection', 'collection_slug', 'collection_item'].map((table) => ({ table })),
  )
}
