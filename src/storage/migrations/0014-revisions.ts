import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** What answers show, by table. Columns that no answer shows are left out of `item` and `user`: changing one raises nothing. */
const SHOWN: readonly { readonly table: keyof Database & string; readonly columns?: readonly string[] }[] = [
  {
    table: 'item',
    columns: [
      ...['id', 'kind', 'slug', 'title', 'description', 'type', 'content', 'variables', 'owner_seq', 'author_seq', 'contributors'],
      ...['category_seq', 'visibility', 'votes', 'version', 'created_at', 'updated_at', 'deleted_at', 'skill_name'],
      ...['featured_at', 'held_at', 'held_from'],
    ],
  },
  { table: 'user', columns: ['username', 'username_key', 'contributor_key', 'display_name', 'bio', 'website', 'removal'] },
  ...(['slug', 'item_tag', 'category', 'version', 'skill_file', 'item_words', 'embedding'] as const).map((table) => ({ table })),
]

/** A revision that triggers raise with every change that an answer can show, whichever statement made it. It replaces a count of all commits. */
export async function createRevisions(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('revision')
    .addColumn('scope', 'text', (c) => c.primaryKey())
    .addColumn('value', 'bigint', (c) => c.notNull())
    .execute()
  await db.insertInto('revision').values({ scope: 'library', value: 1 }).execute()
  await dialect.raiseRevision(db, 'library', SHOWN)
  await db.schema.dropTable('write_count').execute()
}
