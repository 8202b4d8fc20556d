import type { Kysely } from 'kysely'
import type { OpenDatabase } from './dialects/dialect.ts'
import type { WriteContext } from './items/write-context.ts'
import { dropValue, putValue, readValue } from './kept-values.ts'
import type { Database } from './schema.ts'
import { removeUnusedWords } from './search/item-words.ts'

/** Marks, in the transaction that deletes something, that a sweep is due. @param at ISO 8601 */
export async function markSweepDue(db: Kysely<Database>, at: string): Promise<void> {
  await putValue(db, 'sweep_due', at)
  await dropValue(db, 'search_epoch')
}

/** Removes the snapshot of the index, removes deleted text from the words and the log, and frees its space. False when a reader keeps the log. */
export async function sweep(
  database: Pick<OpenDatabase, 'snapshots' | 'reader' | 'file'>,
  transact: WriteContext['transact'],
): Promise<boolean> {
  const due = await readValue(database.reader, 'sweep_due')
  const transactUnseen = <T>(work: (db: Kysely<Database>) => Promise<T>) => transact(work, { isUnseen: true })
  await database.snapshots?.remove()
  await removeUnusedWords(database.reader, transactUnseen)
  // One that was begun before has the words.
  await database.snapshots?.remove()
  // A server frees deleted rows by itself.
  await database.file?.releaseRoom()
  if (database.file && !(await database.file.emptyLog())) return false
  // The next sweep removes what was deleted meanwhile.
  if (due !== null) await transactUnseen((db) => db.deleteFrom('secret').where('name', '=', 'sweep_due').where('value', '=', due).execute())
  return true
}
