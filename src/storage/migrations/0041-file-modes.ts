import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** The mode of each file of a skill, 0o644 or 0o755. Of files that were there before nothing is known: null. */
export async function addFileModes(db: Kysely<Database>): Promise<void> {
  for (const table of ['skill_file', 'version_file'] as const) {
    await db.schema.alterTable(table).addColumn('mode', 'integer').execute()
  }
}
