import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * Which teams groups of a sign-in provider fill: `bound` ones; `asked` is one that a map names, and an administrator has not allowed yet. Those
 * that were filled before are bound.
 */
export async function bindGroupTeams(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('user').addColumn('filled_by_groups', 'text').execute()
  await sql`
    update "user" set filled_by_groups = 'bound'
    where is_team = 1 and seq in (select team_seq from team_member where given_by is not null)`.execute(db)
}
