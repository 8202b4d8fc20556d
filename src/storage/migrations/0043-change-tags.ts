import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * Changes of tags write no version any more, so the log of visible changes says what the tags were, and who made a change. Until now every
 * change of tags was a version. A version counts such changes of it.
 */
export async function logTags(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('shared_change').addColumn('tags', 'text').execute()
  await db.schema.alterTable('shared_change').addColumn('actor_id', 'text').execute()
  await db.schema
    .alterTable('version')
    .addColumn('filings', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`
    update shared_change set tags = (
      select version.tags from version where version.item_seq = shared_change.item_seq and version.number = shared_change.version
    )`.execute(db)
}
