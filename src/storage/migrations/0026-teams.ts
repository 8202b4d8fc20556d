import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/**
 * Teams are users without a login: they share the name space and own items as people do. `former_name` has the names that teams had before,
 * which lead to them and are never given to others. Who is in a team decides what a member is shown, so it raises the revision.
 */
export async function createTeams(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .alterTable('user')
    .addColumn('is_team', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createTable('team_member')
    .addColumn('team_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('user_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('joined_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('team_member_key', ['team_seq', 'user_seq'])
    .execute()
  await db.schema.createIndex('team_member_user').on('team_member').columns(['user_seq', 'team_seq']).execute()
  await db.schema
    .createTable('former_name')
    .addColumn('username_key', 'text', (c) => c.primaryKey())
    .addColumn('user_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .execute()
  await db.schema.createIndex('former_name_user').on('former_name').column('user_seq').execute()
  await dialect.addRevisionTriggers(db, 'library', [{ table: 'team_member' }, { table: 'former_name' }])
}
