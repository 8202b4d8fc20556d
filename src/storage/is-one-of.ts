import { sql } from 'kysely'

/** `column in (values)`, which no engine accepts without values. */
export function isOneOf(column: string, values: readonly (string | number)[]) {
  return values.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`
}
