import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * Brings databases of before 0.1.0 to the one schema that is frozen from here on: 0002 and 0007 were edited after they had landed, so some
 * databases have them in their first form. From here on the table of migrations keeps the digest of each.
 */
export async function freezeSchema(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  const columns = await dialect.readColumns(db)
  if (!columns.has('session.holder')) await db.schema.alterTable('session').addColumn('holder', 'text').execute()
  if (!columns.has('user.removal')) await db.schema.alterTable('user').addColumn('removal', 'text').execute()
  if (!columns.has('item.held_from')) {
    await db.schema.alterTable('item').addColumn('held_from', 'text').execute()
    // Of the same name, on other columns.
    await db.schema.dropIndex('item_featured').ifExists().execute()
  }
  for (const column of ['featured_at', 'held_at'] as const) {
    await db.schema
      .createIndex(`item_${column.replace('_at', '')}`)
      .ifNotExists()
      .on('item')
      .columns([column, 'seq'])
      .where(sql.ref(column), 'is not', null)
      .execute()
  }
  const owned = ['owner_seq', 'kind', 'updated_at', 'seq', 'deleted_at', 'visibility']
  await db.schema.createIndex('item_owned').ifNotExists().on('item').columns(owned).execute()
  await db.schema.createIndex('slug_item').ifNotExists().on('slug').column('item_seq').execute()
  await db.schema.createIndex('vote_user').ifNotExists().on('vote').column('user_seq').execute()
  await db.schema.createIndex('version_author').ifNotExists().on('version').column('author_seq').execute()
  await db.schema.createIndex('skill_file_blob').ifNotExists().on('skill_file').column('sha256').execute()
  await db.schema.createIndex('version_file_blob').ifNotExists().on('version_file').column('sha256').execute()
  await db.schema.createIndex('category_parent').ifNotExists().on('category').column('parent_seq').execute()
  await db.schema.createTable('word_removal').ifNotExists().addColumn('seq', 'integer', dialect.identity).execute()
  await sql`alter table migration add column digest text`.execute(db)
}
