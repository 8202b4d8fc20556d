import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Since when an account is suspended, and on which day it was last used. No answer that is cached shows them: they raise no revision. */
export async function addAccountStates(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('user').addColumn('suspended_at', 'text').execute()
  await db.schema.alterTable('user').addColumn('seen_on', 'text').execute()
}
