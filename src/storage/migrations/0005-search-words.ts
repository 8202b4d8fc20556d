import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * The words of each item, from which every process builds its search index. They replace the engine's full-text tables.
 * What is stored already gets its words when the library is next opened.
 */
export async function createSearchWords(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  for (const table of ['prompt_text', 'prompt_text_own', 'skill_text', 'skill_text_own']) {
    await sql`drop table if exists ${sql.table(table)}`.execute(db)
  }
  await db.schema
    .createTable('word')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('word', 'text', (c) => c.notNull().unique())
    .addColumn('stem', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('item_words')
    .addColumn('item_seq', 'integer', (c) => c.primaryKey())
    .addColumn('revision', 'integer', (c) => c.notNull().unique())
    .addColumn('analysis', 'integer', (c) => c.notNull())
    .addColumn('title_length', 'integer', (c) => c.notNull())
    .addColumn('body_length', 'integer', (c) => c.notNull())
    .addColumn('words', sql.raw(dialect.blobType), (c) => c.notNull())
    .addColumn('vector', sql.raw(dialect.blobType))
    .execute()
}
