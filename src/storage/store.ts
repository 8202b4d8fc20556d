import { type Kysely, sql } from 'kysely'
import type { Clock, LibraryChange, LibraryStore, Random } from '../library/ports.ts'
import { accountStore } from './accounts.ts'
import type { OpenDatabase } from './dialects/dialect.ts'
import { exportReader } from './export-items.ts'
import { migrate } from './migrations/index.ts'
import { readLibrary } from './read-items.ts'
import type { Database } from './schema.ts'
import { sessionStore } from './sessions.ts'
import { type WriteContext, writeLibrary } from './write-items.ts'

/**
 * The store over an opened database, brought up to date first. Reads go to the reading connection, writes are transactions on the writing one.
 * @throws AppError `unavailable` when the database cannot be migrated
 */
export async function createStore(
  database: OpenDatabase,
  outside: { clock: Clock; random: Random; onChange?: (change: LibraryChange) => void },
): Promise<LibraryStore> {
  await migrate(database)
  const { dialect } = database
  const assemble = (reader: Kysely<Database>, transact: WriteContext['transact']): LibraryStore => {
    const context: WriteContext = { reader, transact, ...outside }
    return {
      ...readLibrary(reader, dialect),
      ...writeLibrary(context),
      ...accountStore(reader, context),
      ...exportReader(reader),
      ...sessionStore(reader, context),
      inTransaction: (work) => transact((db, notes) => work(assemble(db, (inner) => inner(db, notes)))),
      async isEmpty() {
        return (await reader.selectFrom('item').select('seq').limit(1).executeTakeFirst()) === undefined
      },
      async ping() {
        await sql`select 1`.execute(reader)
      },
      close: () => database.close(),
    }
  }
  return assemble(database.reader, async (work) => {
    const changes: LibraryChange[] = []
    const result = await database.transact(async (db) => {
      const texts = new Map<string, () => Promise<void>>()
      changes.length = 0
      const done = await work(db, {
        index: (kind, seq, text) => texts.set(`${kind} ${seq}`, () => dialect.indexText(db, kind, seq, text)),
        changed: (change) => changes.push(change),
      })
      for (const write of texts.values()) await write()
      return done
    })
    if (outside.onChange) for (const change of changes) outside.onChange(change)
    return result
  })
}
