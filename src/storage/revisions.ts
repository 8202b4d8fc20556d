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

const lastPublicChange = prepareQuery((db) => db.selectFrom('public_change').select((eb) => eb.fn.max('revision').as('value')))

/** Gives the revision of each scope a row. */
const READ: Record<RevisionScope, (db: Kysely<Database>) => Promise<{ value: number | null }[]>> = {
  library: (db) => findRevision(db, { scope: 'library' }),
  public: (db) => lastPublicChange(db, {}),
}

/**
 * The current revision of a scope: of `public`, the last entry of the log of migration 0034. Triggers raise it with every change that an answer can show (migration 0014); a key's last use, a login or a
 * budget leaves it as it is.
 */
export async function readRevision(db: Kysely<Database>, scope: RevisionScope): Promise<number> {
  const [row] = await READ[scope](db)
  if (!row || row.value === null) throw new Error(`there is no revision "${scope}"`)
  return row.value
}
