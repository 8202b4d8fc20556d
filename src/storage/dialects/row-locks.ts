import { type Expression, type Kysely, PostgresAdapter, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * Locks the rows of `table` that a query reads until the transaction ends, so that concurrent changes of one row take turns. Rows of other
 * tables may still come to refer to them. A file has one writer at a time and needs no locks.
 */
export function lockRows<Query extends { modifyEnd(modifier: Expression<unknown>): Query }>(
  db: Kysely<Database>,
  query: Query,
  table: string,
): Query {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return query
  return query.modifyEnd(sql`for no key update of ${sql.table(table)}`)
}
