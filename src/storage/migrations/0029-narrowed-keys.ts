import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** What a key is narrowed to, as JSON; null for a key that sees all that its owner does. No answer that is cached shows it. */
export async function narrowKeys(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('api_key').addColumn('within', 'text').execute()
}
