import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * The log from which the history of the Git remote is computed. It begins with what is there now, as one change, oldest texts first. No
 * trigger is on it: a change of an item raises the revision already. Files of older versions are shown by that history too, so that purging
 * one raises it from now on.
 */
export async function createSharedChanges(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('shared_change')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('revision', 'bigint', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('audience', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('category', 'text')
    .addColumn('at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('shared_change_item').on('shared_change').column('item_seq').execute()
  await sql`
    insert into shared_change (item_seq, revision, version, audience, path, category, at)
    select item.seq, 1, item.version, item.visibility,
      case when item.kind = 'skill' then 'plugins/' || coalesce(item.channel_name, item.skill_name, item.slug)
        else 'prompts/' || coalesce(category.slug, 'uncategorised') || '/' || item.slug || '.md' end,
      category.slug, item.updated_at
    from item left join category on category.seq = item.category_seq
    where item.deleted_at is null
    order by item.updated_at, item.seq`.execute(db)
  await dialect.addRevisionTriggers(db, 'library', [{ table: 'version_file' }])
}
