import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * The triggers of migrations 0014, 0015 and 0034 run at the commit where several write at once: a number is given in the order of commits, and
 * nobody waits for it longer than a commit takes.
 */
export async function deferTriggers(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await dialect.deferTriggers(db)
}
