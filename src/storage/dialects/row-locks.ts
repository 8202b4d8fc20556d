import { type Kysely, PostgresAdapter, type SelectQueryBuilder, sql } from 'kysely'
import { prepareQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'

/**
 * Prepares a lock on the rows of one table that a query finds. It holds until the transaction ends, so that concurrent changes of a row take
 * turns; rows of other tables may still come to refer to it. Read what the row refers to in a later statement, which sees what was committed
 * while this one waited. A file has one writer at a time and needs no locks.
 */
export function prepareLock<Name extends keyof Database>(
  build: (db: Kysely<Database>) => SelectQueryBuilder<Database, Name, object>,
): (db: Kysely<Database>, values: Readonly<Record<string, string | number>>) => Promise<void> {
  const lock = prepareQuery((db) => build(db).modifyEnd(sql`for no key update`))
  return async (db, values) => {
    if (db.getExecutor().adapter instanceof PostgresAdapter) await lock(db, values)
  }
}
