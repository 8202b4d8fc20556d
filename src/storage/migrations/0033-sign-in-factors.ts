import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * What people prove beside a password. `login_passkey` has the schema of better-auth's plugin, in snake_case. A session says how it was
 * opened, and whether its person still has to be told of it.
 */
export async function createSignInFactors(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('login_factor')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().unique().references('login.id').onDelete('cascade'))
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('last_step', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('login_recovery_code')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('login.id').onDelete('cascade'))
    .addColumn('sha256', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('login_recovery_code_user').on('login_recovery_code').column('user_id').execute()
  await db.schema
    .createTable('login_passkey')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('login.id').onDelete('cascade'))
    .addColumn('name', 'text')
    .addColumn('public_key', 'text', (c) => c.notNull())
    .addColumn('credential_id', 'text', (c) => c.notNull().unique())
    .addColumn('counter', 'bigint', (c) => c.notNull())
    .addColumn('device_type', 'text', (c) => c.notNull())
    .addColumn('backed_up', 'integer', (c) => c.notNull())
    .addColumn('transports', 'text')
    .addColumn('aaguid', 'text')
    .addColumn('created_at', 'text')
    .addColumn('used_at', 'text')
    .execute()
  await db.schema.createIndex('login_passkey_user').on('login_passkey').column('user_id').execute()
  await db.schema.alterTable('login_session').addColumn('opened_by', 'text').execute()
  await db.schema.alterTable('login_session').addColumn('is_unseen', 'integer').execute()
}
