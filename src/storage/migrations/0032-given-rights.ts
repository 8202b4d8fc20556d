import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Which sign-in provider gave a membership or the admin role because of a group; null: somebody here did. */
export async function addGivenRights(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('team_member').addColumn('given_by', 'text').execute()
  await db.schema.alterTable('user').addColumn('role_given_by', 'text').execute()
}
