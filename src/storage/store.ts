import { type Kysely, sql } from 'kysely'
import type { Clock, LibraryStore, Random } from '../library/ports.ts'
import { accountStore } from './accounts.ts'
import type { OpenDatabase } from './dialects/dialect.ts'
import { exportReader } from './export-items.ts'
import { migrate } from './migrations/index.ts'
import { readLibrary } from './read-items.ts'
import type { Database } from './schema.ts'
import { type WriteContext, writeLibrary } from './write-items.ts'

/**
 * The store over an opened database, brought up to date first. Reads go to the reading connection, writes are transactions on the writing one.
 * @throws AppError `unavailable` when the database cannot be migrated
 */
export async function createStore(database: OpenDatabase, outside: { clock: Clock; random: Random }): Promise<LibraryStore> {
  await migrate(database)
  const assemble = (reader: Kysely<Database>, transact: WriteContext['transact']): LibraryStore => {
    const context: WriteContext = { dialect: database.dialect, transact, ...outside }
    return {
      ...readLibrary(reader, database.dialect),
      ...writeLibrary(context),
      ...accountStore(reader, context),
      ...exportReader(reader),
      inTransaction: (work) => transact((db) => work(assemble(db, (inner) => inSavepoint(db, inner)))),
      async isEmpty() {
        return (await reader.selectFrom('item').select('seq').limit(1).executeTakeFirst()) === undefined
      },
      async ping() {
        await sql`select 1`.execute(reader)
      },
      close: () => database.close(),
    }
  }
  return assemble(database.reader, (work) => database.transact(work))
}

/** One step of an open transaction: undone by itself when it fails, so that the others stand. */
async function inSavepoint<T>(db: Kysely<Database>, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  await sql`savepoint step`.execute(db)
  try {
    const result = await work(db)
    await sql`release savepoint step`.execute(db)
    return result
  } catch (error) {
    await sql`rollback to savepoint step`.execute(db)
    await sql`release savepoint step`.execute(db)
    throw error
  }
}
