import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** A server keeps the snapshot of the search index in tables of the library. */
export async function createSnapshotTables(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await dialect.createSnapshotTables(db)
}
