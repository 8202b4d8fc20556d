import type { Kysely } from 'kysely'
import type { OpenDatabase } from './dialects/dialect.ts'
import type { WriteContext } from './items/write-items.ts'
import type { Database } from './schema.ts'
import { removeUnusedWords } from './search/item-words.ts'

/** Set while the words of something that was deleted, or its text in the log, may still be there. */
const DUE = 'sweep_due'

/** Marks, in the transaction that deletes something, that a sweep is due. @param at ISO 8601 */
export async function markSweepDue(db: Kysely<Database>, at: string): Promise<void> {
  await db
    .insertInto('secret')
    .values({ name: DUE, value: at })
    .onConflict((c) => c.column('name').doUpdateSet({ value: at }))
    .execute()
}

async function readDue(db: Kysely<Database>): Promise<string | null> {
  return (await db.selectFrom('secret').select('value').where('name', '=', DUE).executeTakeFirst())?.value ?? null
}

/** Whether a sweep is due: the process was killed before it, or it failed. */
export async function isSweepDue(db: Kysely<Database>): Promise<boolean> {
  return (await readDue(db)) !== null
}

/** Takes what was deleted out of the words and the log, and gives back its room. False when somebody who reads keeps the log. */
export async function sweep(
  database: Pick<OpenDatabase, 'reader' | 'releaseRoom' | 'emptyLog'>,
  transact: WriteContext['transact'],
): Promise<boolean> {
  const due = await readDue(database.reader)
  await removeUnusedWords(database.reader, transact)
  await database.releaseRoom()
  if (!(await database.emptyLog())) return false
  // What was deleted meanwhile is swept up by the next.
  if (due !== null) await transact((db) => db.deleteFrom('secret').where('name', '=', DUE).where('value', '=', due).execute())
  return true
}
