import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * Takes over what the first builds noted of migrations. They had Kysely's own migrator, whose table names them as ours does.
 * @param columns of the database, as the dialect reads them
 */
export async function adoptEarlierRecords(db: Kysely<Database>, columns: ReadonlySet<string>): Promise<void> {
  if (!columns.has('kysely_migration.name')) return
  await sql`insert into migration (name, applied_at) select name, timestamp from kysely_migration where true on conflict do nothing`.execute(
    db,
  )
  await sql`drop table kysely_migration`.execute(db)
  await sql`drop table if exists kysely_migration_lock`.execute(db)
}
