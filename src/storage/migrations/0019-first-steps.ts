import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Whether a person has put away the list of first steps. */
export async function addFirstSteps(db: Kysely<Database>): Promise<void> {
  await db.schema
    .alterTable('user')
    .addColumn('hides_first_steps', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
