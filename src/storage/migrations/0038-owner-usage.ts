import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * What each owner keeps: items and versions, bytes of their texts and files, and the words that their items brought into the library. Words and
 * files that were there before this count for nobody.
 */
export async function countOwnerUsage(db: Kysely<Database>): Promise<void> {
  const count = ['items', 'versions', 'bytes', 'words'] as const
  const table = db.schema.createTable('owner_usage').addColumn('owner_seq', 'integer', (c) => c.primaryKey())
  await count.reduce((made, name) => made.addColumn(name, 'bigint', (c) => c.notNull().defaultTo(0)), table).execute()
  await db.schema.alterTable('word').addColumn('owner_seq', 'integer').execute()
  await db.schema.alterTable('blob').addColumn('owner_seq', 'integer').execute()
  await db.schema
    .alterTable('item_words')
    .addColumn('left_out', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`
    insert into owner_usage (owner_seq, items, versions, bytes)
    select item.owner_seq, count(distinct item.seq), count(*), sum(
      octet_length(version.title) + octet_length(coalesce(version.description, '')) + octet_length(version.content)
      + octet_length(version.tags) + octet_length(coalesce(version.note, '')))
    from item inner join version on version.item_seq = item.seq group by item.owner_seq`.execute(db)
}
