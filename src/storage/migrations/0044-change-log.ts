import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * One log of changes, in the order of commits. It takes over the entries of `shared_change`, with their numbers, and replaces the revisions,
 * the log of public changes, the marks of transactions and all their triggers. The words of an item go with the item.
 */
export async function createChangeLog(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('change')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer')
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('audience_before', 'text')
    .addColumn('audience_after', 'text')
    .addColumn('at', 'text', (c) => c.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('batch', 'integer', (c) => c.notNull())
    .addColumn('version', 'integer')
    .addColumn('path', 'text')
    .addColumn('category', 'text')
    .addColumn('tags', 'text')
    .execute()
  await sql`
    insert into change (seq, item_seq, kind, audience_before, audience_after, at, actor_id, batch, version, path, category, tags)
    select one.seq, one.item_seq, item.kind,
      (select earlier.audience from shared_change as earlier where earlier.item_seq = one.item_seq and earlier.seq < one.seq
        order by earlier.seq desc limit 1),
      one.audience, one.at, one.actor_id, one.revision, one.version, one.path, one.category, one.tags
    from shared_change as one join item on item.seq = one.item_seq`.execute(db)
  await db.schema.createIndex('change_item').on('change').columns(['item_seq', 'seq']).execute()
  await sql`create index change_shared on change (seq) 
    where audience_before not in ('private', 'deleted') or audience_after not in ('private', 'deleted')`.execute(db)
  const { rows } = await sql<{ last: number | null }>`
    select max(case when seq > batch then seq else batch end) as last from change`.execute(db)
  const last = Math.max(Number(rows[0]?.last ?? 0), await dialect.readIdentity(db, 'shared_change'))
  await dialect.setIdentity(db, 'change', last)

  await dialect.dropTriggers(db)
  for (const table of ['public_change', 'read_mark', 'revision', 'shared_change', 'index_snapshot_part', 'index_snapshot']) {
    await sql`drop table if exists ${sql.table(table)}`.execute(db)
  }

  await db.schema
    .createTable('words_of_item')
    .addColumn('item_seq', 'integer', (c) => c.primaryKey().references('item.seq').onDelete('cascade'))
    .addColumn('analysis', 'integer', (c) => c.notNull())
    .addColumn('title_length', 'integer', (c) => c.notNull())
    .addColumn('body_length', 'integer', (c) => c.notNull())
    .addColumn('words', sql.raw(dialect.blobType), (c) => c.notNull())
    .addColumn('vector', sql.raw(dialect.blobType))
    .addColumn('left_out', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`
    insert into words_of_item (item_seq, analysis, title_length, body_length, words, vector, left_out)
    select item_seq, analysis, title_length, body_length, words, vector, left_out
    from item_words where exists (select 1 from item where item.seq = item_words.item_seq)`.execute(db)
  await db.schema.dropTable('item_words').execute()
  await db.schema.alterTable('words_of_item').renameTo('item_words').execute()
}
