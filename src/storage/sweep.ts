import type { Kysely } from 'kysely'
import type { OpenDatabase } from './dialects/dialect.ts'
import type { WriteContext } from './items/write-context.ts'
import type { Database } from './schema.ts'
import { endIndexEpoch } from './search/index-epoch.ts'
import { removeUnusedWords } from './search/item-words.ts'

/** Set while words, log text or a snapshot of the index with deleted data may still exist. */
const DUE = 'sweep_due'

/** Marks, in the transaction that deletes something, that a sweep is due. @param at ISO 8601 */
export async function markSweepDue(db: Kysely<Database>, at: string): Promise<void> {
  await db
    .insertInto('secret')
    .values({ name: DUE, value: at })
    .onConflict((c) => c.column('name').doUpdateSet({ value: at }))
    .execute()
  await endIndexEpoch(db)
}

async function readDue(db: Kysely<Database>): Promise<string | null> {
  return (await db.selectFrom('secret').select('value').where('name', '=', DUE).executeTakeFirst())?.value ?? null
}

/** Whether a sweep is due because an earlier one was interrupted or failed. */
export async function isSweepDue(db: Kysely<Database>): Promise<boolean> {
  return (await readDue(db)) !== null
}

/** Removes the snapshot of the index, removes deleted text from the words and the log, and frees its space. False when a reader keeps the log. */
export async function sweep(
  database: Pick<OpenDatabase, 'snapshots' | 'reader' | 'file'>,
  transact: WriteContext['transact'],
): Promise<boolean> {
  const due = await readDue(database.reader)
  const transactUnseen = <T>(work: (db: Kysely<Database>) => Promise<T>) => transact(work, { isUnseen: true })
  await database.snapshots?.remove()
  await removeUnusedWords(database.reader, transactUnseen)
  // One that was begun before has the words.
  await database.snapshots?.remove()
  // A server frees deleted rows by itself.
  await database.file?.releaseRoom()
  if (database.file && !(await database.file.emptyLog())) return false
  // The next sweep removes what was deleted meanwhile.
  if (due !== null) await transactUnseen((db) => db.deleteFrom('secret').where('name', '=', DUE).where('value', '=', due).execute())
  return true
}
