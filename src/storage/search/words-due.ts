import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Set while items may be without words: an import or a repair writes them in transactions of their own. */
const WORDS_DUE = 'words_due'

/** Marks it, in the transaction after which items have no words yet. */
export async function markWordsDue(db: Kysely<Database>): Promise<void> {
  await db
    .insertInto('secret')
    .values({ name: WORDS_DUE, value: '' })
    .onConflict((c) => c.column('name').doNothing())
    .execute()
}

export async function areWordsDue(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom('secret').select('name').where('name', '=', WORDS_DUE).executeTakeFirst()) !== undefined
}

export async function clearWordsDue(db: Kysely<Database>): Promise<void> {
  await db.deleteFrom('secret').where('name', '=', WORDS_DUE).execute()
}
