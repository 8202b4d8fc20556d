import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** What a provider of embeddings says public items mean, by model. */
export async function createEmbeddings(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('embedding')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('dims', 'integer', (c) => c.notNull())
    .addColumn('code', sql.raw(dialect.blobType), (c) => c.notNull())
    .addUniqueConstraint('embedding_item', ['item_seq', 'model'])
    .execute()
  await db.schema.createIndex('embedding_model').on('embedding').columns(['model', 'seq']).execute()
  // Apart, so that reading all codes does not mean reading all vectors.
  await db.schema
    .createTable('embedding_vector')
    .addColumn('embedding_seq', 'integer', (c) => c.primaryKey().references('embedding.seq').onDelete('cascade'))
    .addColumn('vector', sql.raw(dialect.blobType), (c) => c.notNull())
    .execute()
  // For counting what is public without reading texts.
  await db.schema
    .createIndex('item_public')
    .on('item')
    .columns(['kind', 'seq'])
    .where(sql.ref('visibility'), '=', 'public')
    .where(sql.ref('deleted_at'), 'is', null)
    .execute()
}
