import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

/**
 * The rows of the table of secrets.
 * - `service_url`: the address at which the service was last reached
 * - `sweep_due`: since when words, log text or a snapshot of the index with deleted data may still exist
 * - `words_due`: set while items may be without words, as an import or a repair writes them in transactions of their own
 * - `search_epoch`: the random value that a snapshot of the search index must name to be read. It is dropped in the transaction after which
 *   no earlier snapshot may be read: of a deletion for good, or when rows came from elsewhere.
 */
type KeptName = 'sealing_key' | 'service_url' | 'sweep_due' | 'words_due' | 'search_epoch'

/** A value; null for none. */
export async function readValue(db: Kysely<Database>, name: KeptName): Promise<string | null> {
  return (await db.selectFrom('secret').select('value').where('name', '=', name).executeTakeFirst())?.value ?? null
}

/** Writes a value in the place of any. */
export async function putValue(db: Kysely<Database>, name: KeptName, value: string): Promise<void> {
  await db
    .insertInto('secret')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** Writes a value where there is none. @returns the one that is there then */
export async function addValue(db: Kysely<Database>, name: KeptName, value: string): Promise<string> {
  await db
    .insertInto('secret')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  return (await readValue(db, name)) ?? value
}

export async function dropValue(db: Kysely<Database>, name: KeptName): Promise<void> {
  await db.deleteFrom('secret').where('name', '=', name).execute()
}
