import { type Kysely, sql } from 'kysely'
import type { RevisionScope } from '../library/ports/store.ts'
import { prepareQuery, slot } from './prepared.ts'
import type { Database } from './schema.ts'

const findRevision = prepareQuery((db) =>
  db
    .selectFrom('revision')
    .select('value')
    .where('scope', '=', sql<RevisionScope>`${slot('scope')}`),
)

/**
 * The current revision of a scope. Triggers raise it with every change that an answer can show (migration 0014); a key's last use, a login or a
 * budget leaves it as it is.
 */
export async function readRevision(db: Kysely<Database>, scope: RevisionScope): Promise<number> {
  const [row] = await findRevision(db, { scope })
  if (!row) throw new Error(`there is no revision "${scope}"`)
  return row.value
}
