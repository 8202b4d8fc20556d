import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import type { Purge } from '../../library/purges.ts'
import { TEAM_ROLES, type TeamRole } from '../../library/teams.ts'

/** Result codes of SQLite (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5

/** What the library to be replaced knows and an older backup does not. */
export interface Afterwards {
  /** Identifies the library: the time of its first migration. */
  readonly madeAt: string
  readonly keys: ReadonlyMap<number, { readonly id: string; readonly revokedAt: string | null }>
  readonly users: ReadonlyMap<number, { readonly id: string; readonly nameKey: string }>
  readonly purges: readonly Purge[]
  /** The roles of the members of a team, by its id and theirs. null: the library has no teams yet. */
  readonly memberships: ReadonlyMap<string, ReadonlyMap<string, TeamRole>> | null
  /** The last row numbers: a missing number below them was removed. */
  readonly lastKey: number
  readonly lastUser: number
}

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
export function holdLibrary(path: string): HeldLibrary {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('pragma journal_mode = delete; begin exclusive')
    return { afterwards: readAfterwards(file), fault: null, release: () => file.close() }
  } catch (error) {
    if (file.isOpen) file.close()
    if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === SQLITE_BUSY) {
      throw new AppError('conflict', `The library at ${path} is in use: stop the service and every command that works on it, then restore.`)
    }
    return { afterwards: null, fault: error instanceof Error ? error.message : String(error), release: () => {} }
  }
}

function readAfterwards(file: DatabaseSync): Afterwards | null {
  const hasTable = (name: string) => file.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !== undefined
  if (!hasTable('migration') || !hasTable('api_key')) return null
  const madeAt = file.prepare('select applied_at from migration order by name limit 1').get()?.['applied_at']
  if (madeAt === undefined) return null
  const keys = file.prepare('select seq, id, revoked_at from api_key').all()
  const users = file.prepare('select seq, id, username_key from user').all()
  const purges = hasTable('purge')
    ? file.prepare('select item_id, first_version, last_version, file_key from purge order by seq').all()
    : []
  const members = hasTable('team_member')
    ? file
        .prepare(
          'select team.id as team, member.id as member, team_member.role from team_member join user as team on team.seq = team_seq join user as member on member.seq = user_seq',
        )
        .all()
    : null
  const numberOrNull = (value: unknown) => (value === null || value === undefined ? null : Number(value))
  const last = (table: string) => Number(file.prepare('select seq from sqlite_sequence where name = ?').get(table)?.['seq'] ?? 0)
  return {
    madeAt: String(madeAt),
    keys: new Map(
      keys.map(({ seq, id, revoked_at: at }) => [
        Number(seq),
        { id: String(id), revokedAt: at === null || at === undefined ? null : String(at) },
      ]),
    ),
    users: new Map(users.map(({ seq, id, username_key: name }) => [Number(seq), { id: String(id), nameKey: String(name) }])),
    purges: purges.map(({ item_id: itemId, first_version: first, last_version: last, file_key: key }) => ({
      itemId: String(itemId),
      first: numberOrNull(first),
      last: numberOrNull(last),
      key: key === null ? null : String(key),
    })),
    memberships: members === null ? null : groupMembers(members),
    lastKey: last('api_key'),
    lastUser: last('user'),
  }
}

function groupMembers(rows: readonly Record<string, unknown>[]): Map<string, Map<string, TeamRole>> {
  const teams = new Map<string, Map<string, TeamRole>>()
  for (const { team, member, role: name } of rows) {
    const role = TEAM_ROLES.find((one) => one === name)
    if (role === undefined) continue
    const roles = teams.get(String(team)) ?? new Map<string, TeamRole>()
    teams.set(String(team), roles.set(String(member), role))
  }
  return teams
}
