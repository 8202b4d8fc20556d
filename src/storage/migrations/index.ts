import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { AppError } from '../../errors.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'
import { createLibrary } from './0001-library.ts'
import { createSessions } from './0002-sessions.ts'
import { addSkillNames } from './0003-skill-names.ts'

/** All migrations, numbered, forward only. A landed one is never edited. */
const MIGRATIONS: Record<string, (db: Kysely<Database>, dialect: Dialect) => Promise<void>> = {
  '0001-library': createLibrary,
  '0002-sessions': createSessions,
  '0003-skill-names': addSkillNames,
}

/**
 * Brings a database up to date, all in one transaction.
 * @throws AppError `unavailable` when the database is newer than this program, or a migration fails (nothing is changed then)
 */
export async function migrate(database: OpenDatabase): Promise<void> {
  const migrator = new Migrator({
    db: database.writer,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(MIGRATIONS).map(([name, up]) => [name, { up: (db: Kysely<Database>) => up(db, database.dialect) }]),
        ),
    },
  })
  const { error } = await migrator.migrateToLatest()
  if (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError(
      'unavailable',
      `The database could not be brought up to date: ${reason}. If it was last used by a newer version, start that one.`,
      {
        cause: error,
      },
    )
  }
}
