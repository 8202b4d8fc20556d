import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** The key or session that made an install link, or connected a program: what it made ends with it. Null for what was there before. */
export async function noteMakers(db: Kysely<Database>): Promise<void> {
  for (const table of ['install_link', 'api_key'] as const) await db.schema.alterTable(table).addColumn('made_by', 'text').execute()
}
