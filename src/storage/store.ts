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
  const { dialect } = database
  const assemble = (reader: Kysely<Database>, transact: WriteContext['transact']): LibraryStore => {
    const context: WriteContext = { reader, transact, ...outside }
    return {
      ...readLibrary(reader, dialect),
      ...writeLibrary(context),
      ...accountStore(reader, context),
      ...exportReader(reader),
      inTransaction: (work) => transact((db, index) => work(assemble(db, (inner) => inner(db, index)))),
      async isEmpty() {
        return (await reader.selectFrom('item').select('seq').limit(1).executeTakeFirst()) === undefined
      },
      async ping() {
        await sql`select 1`.execute(reader)
      },
      close: () => database.close(),
    }
  }
  return assemble(database.reader, (work) =>
    database.transact(async (db) => {
      const texts = new Map<string, () => Promise<void>>()
      const result = await work(db, (kind, seq, text) => texts.set(`${kind} ${seq}`, () => dialect.indexText(db, kind, seq, text)))
      for (const write of texts.values()) await write()
      return result
    }),
  )
}
