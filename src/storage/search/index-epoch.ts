import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { OpenDatabase } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** The row that holds it, beside the service's secrets. */
const EPOCH = 'search_epoch'

/** The random value that a snapshot of the search index must name to be read; null: none may be. */
export async function readIndexEpoch(db: Kysely<Database>): Promise<string | null> {
  return (await db.selectFrom('secret').select('value').where('name', '=', EPOCH).executeTakeFirst())?.value ?? null
}

/** The same, a new one when there is none. */
export async function ensureIndexEpoch({ reader, transact }: Pick<OpenDatabase, 'reader' | 'transact'>): Promise<string> {
  const known = await readIndexEpoch(reader)
  if (known !== null) return known
  return await transact(async (db) => {
    const row = { name: EPOCH, value: randomBytes(16).toString('hex') }
    await db
      .insertInto('secret')
      .values(row)
      .onConflict((c) => c.column('name').doNothing())
      .execute()
    return (await readIndexEpoch(db)) ?? row.value
  })
}

/** Ends the epoch, in the transaction after which no earlier snapshot may be read: of a deletion for good, or when rows came from elsewhere. */
export async function endIndexEpoch(db: Kysely<Database>): Promise<void> {
  await db.deleteFrom('secret').where('name', '=', EPOCH).execute()
}
