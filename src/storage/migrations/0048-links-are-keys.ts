import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/** Install links are keys of a kind of their own, with the path that they read. Their tokens go on working. */
export async function makeLinksKeys(db: Kysely<Database>): Promise<void> {
  await db.schema
    .alterTable('api_key')
    .addColumn('kind', 'text', (c) => c.notNull().defaultTo('key'))
    .execute()
  await db.schema.alterTable('api_key').addColumn('path', 'text').execute()
  await sql`
    insert into api_key (id, user_seq, name, sha256, scopes, created_at, last_used_at, expires_at, revoked_at, made_by, kind, path)
    select id, user_seq, name, sha256, '["read"]', created_at, last_used_at, expires_at, revoked_at, made_by, 'link', scope
    from install_link order by seq`.execute(db)
  await db.schema.dropTable('install_link').execute()
}
