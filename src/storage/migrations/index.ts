import { type Kysely, sql } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { isFillingName } from '../filling.ts'
import type { Database } from '../schema.ts'
import { createLibrary } from './0001-library.ts'
import { createSessions } from './0002-sessions.ts'
import { addSkillNames } from './0003-skill-names.ts'
import { createImproveUsage } from './0004-improve-usage.ts'
import { createSearchWords } from './0005-search-words.ts'
import { createEmbeddings } from './0006-embeddings.ts'
import { createAccounts } from './0007-accounts.ts'
import { createEmbeds } from './0008-embeds.ts'
import { createInstances } from './0009-instances.ts'
import { createFormDrafts } from './0010-form-drafts.ts'

/** All migrations, numbered, forward only. A landed one is never edited, but to leave out what a later one takes away again. */
const MIGRATIONS: readonly (readonly [string, (db: Kysely<Database>, dialect: Dialect) => Promise<void>])[] = [
  ['0001-library', createLibrary],
  ['0002-sessions', createSessions],
  ['0003-skill-names', addSkillNames],
  ['0004-improve-usage', createImproveUsage],
  ['0005-search-words', createSearchWords],
  ['0006-embeddings', createEmbeddings],
  ['0007-accounts', createAccounts],
  ['0008-embeds', createEmbeds],
  ['0009-instances', createInstances],
  ['0010-form-drafts', createFormDrafts],
]

/**
 * Brings a database up to date: all that is pending in one transaction that holds the write lock from its start,
 * so that a kill half-way leaves nothing, and of several processes that start at once one migrates and the others find it done.
 * (Kysely's own migrator runs SQLite's migrations outside of a transaction.)
 * @param options.mayBeFilling for who fills it from another library; all others are refused until it is whole
 * @throws AppError `unavailable` when the database is newer than this program, is half-way filled, or a migration fails
 */
export async function migrate(database: OpenDatabase, { mayBeFilling = false } = {}): Promise<void> {
  try {
    await database.transact(
      async (db) => {
        await sql`create table if not exists migration (name text primary key, applied_at text not null)`.execute(db)
        const { rows } = await sql<{ name: string }>`select name from migration order by name`.execute(db)
        const known = new Set(MIGRATIONS.map(([name]) => name))
        if (!mayBeFilling && rows.some((row) => isFillingName(row.name))) {
          const message =
            'The database is being filled from another library, or was left half-way: run the same migrate-data again until it is done.'
          throw new AppError('unavailable', message)
        }
        const unknown = rows.find((row) => !known.has(row.name) && !isFillingName(row.name))
        if (unknown) {
          throw new AppError('unavailable', `The database was last used by a newer version (it has "${unknown.name}"); start that one.`)
        }
        const applied = new Set(rows.map((row) => row.name))
        for (const [name, up] of MIGRATIONS) {
          if (applied.has(name)) continue
          await up(db, database.dialect)
          await sql`insert into migration (name, applied_at) values (${name}, ${new Date().toISOString()})`.execute(db)
        }
      },
      { isLong: true },
    )
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('unavailable', `The database could not be brought up to date, and is as it was: ${reason}.`, { cause: error })
  }
}
