import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** The language that a person chose for the pages; null: as the browser says. No answer that is cached shows it: it raises no revision. */
export async function addLanguages(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('user').addColumn('language', 'text').execute()
}
