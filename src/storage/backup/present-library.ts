import { DatabaseSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import { AppError } from '../../errors.ts'
import { isBusy, queryConnection, sqliteDialect } from '../dialects/sqlite.ts'
import type { Database } from '../schema.ts'

/** Records of the library to be replaced that an older backup lacks. */
export type Afterwards = NonNullable<Awaited<ReturnType<typeof readAfterwards>>>

/** The current library, locked until it is released. */
export interface HeldLibrary {
  /** null when it cannot be read or is no library. */
  readonly afterwards: Afterwards | null
  /** Why it cannot be read. */
  readonly fault: string | null
  release(): void
}

/**
 * Takes a library file for this process alone, and makes it whole by itself: what stood in its log is in the file, and the log is gone.
 * SQLite lets nobody change the kind of log of a file that another connection has open, so a service that only waits is found too.
 * @throws AppError `conflict` when somebody has it open
 */
export async function holdLibrary(path: string): Promise<HeldLibrary> {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('pragma journal_mode = delete; begin exclusive')
    return { afterwards: await readAfterwards(queryConnection(file)), fault: null, release: () => file.close() }
  } catch (error) {
    if (file.isOpen) file.close()
    if (isBusy(error)) {
      throw new AppError('conflict', `The library at ${path} is in use: stop the service and every command that works on it, then restore.`)
    }
    return { afterwards: null, fault: error instanceof Error ? error.message : String(error), release: () => {} }
  }
}

/** The time of the first migration, which identifies a library. */
export async function readMadeAt(db: Kysely<Database>): Promise<string | undefined> {
  return (await sql<{ at: string }>`select applied_at as at from migration order by name limit 1`.execute(db)).rows[0]?.at
}

async function readAfterwards(db: Kysely<Database>) {
  // Of earlier schemas too.
  const columns = await sqliteDialect.readColumns(db)
  if (!columns.has('migration.name') || !columns.has('api_key.seq')) return null
  const keys = await db.selectFrom('api_key').select(['seq', 'id', 'revoked_at']).execute()
  const users = await db.selectFrom('user').select(['seq', 'id', 'username_key']).execute()
  const purges = db.selectFrom('purge').select(['item_id as itemId', 'first_version as first', 'last_version as last', 'file_key as key'])
  const members = db
    .selectFrom('team_member')
    .innerJoin('user as team', 'team.seq', 'team_seq')
    .innerJoin('user as member', 'member.seq', 'user_seq')
    .select(['team.id as team', 'member.id as member', 'team_member.role'])
  return {
    madeAt: await readMadeAt(db),
    keys: new Map(keys.map((key) => [key.seq, key])),
    users: new Map(users.map((user) => [user.seq, user])),
    purges: columns.has('purge.seq') ? await purges.orderBy('seq').execute() : [],
    /** The roles of members, by the ids of the team and theirs. null: the library has no teams yet. */
    roles: columns.has('team_member.role')
      ? new Map((await members.execute()).map(({ team, member, role }) => [`${team} ${member}`, role]))
      : null,
    /** The last row numbers: a missing number below them was removed. */
    lastKey: await sqliteDialect.readIdentity(db, 'api_key'),
    lastUser: await sqliteDialect.readIdentity(db, 'user'),
  }
}
