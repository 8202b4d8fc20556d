import { type Kysely, sql } from 'kysely'
import type { RevisionScope } from '../library/ports/store.ts'
import { prepareQuery, slot } from './prepared.ts'
import type { Database } from './schema.ts'

const findRevision = prepareQuery((db) =>
  db
    .selectFrom('revision')
    .select('value')
    .where('scope', '=', sql<RevisionScope | 'logins'>`${slot('scope')}`),
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

/** Changes when sessions of browsers end or rights change, in any process. 0 before the first time. */
export async function readLoginsRevision(db: Kysely<Database>): Promise<number> {
  const [row] = await findRevision(db, { scope: 'logins' })
  return row?.value ?? 0
}

/** Has every process look at sessions anew. No trigger raises it: what a session may do depends on more than its row. */
export async function raiseLoginsRevision(db: Kysely<Database>): Promise<void> {
  await db
    .insertInto('revision')
    .values({ scope: 'logins', value: 1 })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet((eb) => ({ value: eb('revision.value', '+', 1) })))
    .execute()
}
