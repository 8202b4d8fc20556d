import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** Addresses with a secret in them that read a scope with their maker's rights. No answer that is cached shows them: they raise no revision. */
export async function createInstallLinks(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('install_link')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('user_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('sha256', 'text', (c) => c.notNull().unique())
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_used_at', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute()
  await db.schema.createIndex('install_link_user').on('install_link').column('user_seq').execute()
}
