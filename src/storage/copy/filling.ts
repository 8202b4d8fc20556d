import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * Prefix of the pseudo-migration of a database that is being filled from another; it ends with the source. Every program refuses such a
 * database, older ones because they do not know the migration.
 */
const FILLING = 'filled from '

/** Whether a migration name marks a database that is being filled. */
export function isFillingName(name: string): boolean {
  return name.startsWith(FILLING)
}

/** The digest of the library a database is being filled from; null when it is not. */
export async function readFilling(db: Kysely<Database>): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`select name from migration where name like ${`${FILLING}%`}`.execute(db)
  return rows[0]?.name.slice(FILLING.length) ?? null
}

/** Marks a database as being filled from this library. */
export async function beginFilling(db: Kysely<Database>, source: string): Promise<void> {
  await sql`insert into migration (name, applied_at) values (${FILLING + source}, ${new Date().toISOString()})`.execute(db)
}

/** Marks it as complete. */
export async function endFilling(db: Kysely<Database>, source: string): Promise<void> {
  await sql`delete from migration where name = ${FILLING + source}`.execute(db)
}

/** A digest that identifies a library wherever it is: of its creation time and its first users. Writes do not change it. */
export async function identifyLibrary(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ applied_at: string }>`select applied_at from migration order by name limit 1`.execute(db)
  const first = await db.selectFrom('user').select('id').orderBy('seq').limit(1).executeTakeFirst()
  return createHash('sha256')
    .update(JSON.stringify([rows[0]?.applied_at, first?.id ?? null]))
    .digest('hex')
}
