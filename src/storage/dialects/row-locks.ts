import { type Kysely, PostgresAdapter, type SelectQueryBuilder, sql } from 'kysely'
import { prepareQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'

/**
 * Prepares a lock on the rows of one table that a query finds. It holds until the transaction ends, so that concurrent changes of a row take
 * turns; rows of other tables may still come to refer to it. Read what the row refers to in a later statement, which sees what was committed
 * while this one waited. A file has one writer at a time and needs no locks.
 * @returns takes the lock; false when there was no row. A row that a later statement finds is then not locked. On a file always true.
 */
export function prepareLock<Name extends keyof Database>(
  build: (db: Kysely<Database>) => SelectQueryBuilder<Database, Name, object>,
): (db: Kysely<Database>, values: Readonly<Record<string, string | number>>) => Promise<boolean> {
  const lock = prepareQuery((db) => build(db).modifyEnd(sql`for no key update`))
  return async (db, values) => !(db.getExecutor().adapter instanceof PostgresAdapter) || (await lock(db, values)).length > 0
}
