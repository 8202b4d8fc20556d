import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError } from '../errors.ts'
import { refuseCutOffRestore } from './backup/restore-backup.ts'
import type { OnStatement, OpenDatabase } from './dialects/dialect.ts'
import { isInUse, openSqlite, readSqliteFile, sqliteDialect } from './dialects/sqlite.ts'
import { MIGRATIONS, olderProcess, readMigrations } from './migrations/index.ts'

/** Default number of read connections. */
const DATABASE_CONNECTIONS = 10
/** Hex digits in the names of files of a server's library. */
const NAME_LENGTH = 16
/** The PostgreSQL driver's message for a missing password. */
const NO_PASSWORD = /client password must be a string/

/** The settings of where the library is kept. */
export interface DatabaseSettings {
  readonly databaseUrl: string
  /** For a server of databases: connections to read with. Default: 10. */
  readonly databaseConnections?: number
  /** Called with each database statement, without its values. */
  readonly onStatement?: OnStatement | undefined
  /** Whether a library is copied to a file before its schema is changed. Default: true. */
  readonly copiesBeforeUpgrade?: boolean
  /** For a server of databases: folder of files that can be made again. Default: none, such files are not written */
  readonly dataFolder?: string | null
  /** For a server of databases behind a pooler: its own address. */
  readonly databaseListenUrl?: string | null
}

/** The file a `sqlite:` address names; null for the address of a server. */
export function databasePath(databaseUrl: string): string | null {
  return /^sqlite:/.test(databaseUrl) ? databaseUrl.replace(/^sqlite:(\/\/)?/, '') : null
}

/** Where the library is, as people may read it: without a password. */
export function describeDatabase(databaseUrl: string): string {
  const path = databasePath(databaseUrl)
  if (path !== null) return path
  const url = new URL(databaseUrl)
  return `postgres://${url.host}${url.pathname}`
}

/** @throws AppError `not_found` when an address names a file that is not there */
export function requireFile(databaseUrl: string, remedy: string): void {
  const path = databasePath(databaseUrl)
  if (path !== null) refuseCutOffRestore(path)
  if (path !== null && !existsSync(path)) throw new AppError('not_found', `No library found at ${path}. ${remedy}`)
}

/** Opens a database for `work`, and closes it. @throws AppError as {@link explain} says */
export async function withDatabase<T>(settings: DatabaseSettings, work: (database: OpenDatabase) => Promise<T>): Promise<T> {
  const database = await explain(settings, () => openDatabase(settings))
  try {
    return await explain(settings, () => work(database))
  } finally {
    await database.close()
  }
}

/** Adds the library and the driver's reason to an unclear error. */
export async function explain<T>({ databaseUrl }: DatabaseSettings, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Requests get a general message; the operator also gets the server and the reason.
    const fault = error instanceof AppError ? (error.code === 'unavailable' ? error.cause : null) : error
    const said = fault instanceof AggregateError ? fault.errors.map(String).join(', ') : fault instanceof Error ? fault.message : ''
    const reason = NO_PASSWORD.test(said) ? 'the server requires a password, and neither DATABASE_URL nor PGPASSWORD sets one' : said
    if (error instanceof AppError && (reason === '' || error.message.includes(reason))) throw error
    throw new AppError('unavailable', `Could not open the library at ${describeDatabase(databaseUrl)}: ${reason}.`, { cause: error })
  }
}

/** Where a library file would be in a folder, by the server and name of its database. */
function pathInFolder(folder: string, databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return join(folder, `postgres-${createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, NAME_LENGTH)}`)
}

/**
 * Refuses to change the schema of a library file under a process that still uses the earlier one.
 * @throws AppError `unavailable`
 */
export async function refuseOlderProcess({ databaseUrl }: DatabaseSettings): Promise<void> {
  const path = databasePath(databaseUrl)
  if (path === null || !existsSync(path)) return
  // A file that cannot be read is explained when it is opened.
  const applied = await readSqliteFile(path, (db) => readMigrations(db, sqliteDialect)).catch(() => new Set<string>())
  if (applied.size > 0 && MIGRATIONS.some(({ name }) => !applied.has(name)) && isInUse(path)) throw olderProcess()
}

/** The file that copies of a library and its snapshots are named for; null for a server without a folder for them. */
export function libraryPath({ databaseUrl, dataFolder = null }: Pick<DatabaseSettings, 'databaseUrl' | 'dataFolder'>): string | null {
  return databasePath(databaseUrl) ?? (dataFolder === null ? null : pathInFolder(dataFolder, databaseUrl))
}

/** Opens a file or connects to a server. */
export async function openDatabase({
  databaseUrl,
  databaseConnections,
  databaseListenUrl,
  dataFolder = null,
  onStatement,
}: DatabaseSettings): Promise<OpenDatabase> {
  const path = databasePath(databaseUrl)
  if (path !== null) {
    refuseCutOffRestore(path)
    return openSqlite(path, onStatement)
  }
  // Who keeps the library in a file does not load the driver of a server.
  const { openPostgres } = await import('./dialects/postgres.ts')
  return openPostgres(databaseUrl, {
    readers: databaseConnections ?? DATABASE_CONNECTIONS,
    listenUrl: databaseListenUrl ?? null,
    schema: MIGRATIONS.at(-1)?.name,
    snapshotPath: libraryPath({ databaseUrl, dataFolder }),
    onStatement,
  })
}

/** A marker file beside a library file, which outlives it. */
function markerOf(path: string): string {
  return `${path}.made`
}

/**
 * Refuses to create an empty library where there was one before: its file was deleted, or the wrong folder is mounted.
 * @throws AppError `not_found`
 */
export function refuseLostLibrary(path: string, mayCreate: boolean): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > 0 || mayCreate || !existsSync(markerOf(path))) return
  throw new AppError(
    'not_found',
    `There was a library at ${path}, and it is gone. Put it back, restore a backup, or start with --create to make an empty one.`,
  )
}

/** Marks this path as holding a library. */
export function markLibrary(path: string): void {
  if (existsSync(markerOf(path))) return
  const text = `The library ${basename(path)} was made here on ${new Date().toISOString()}. Without it the service does not start on an empty one.\n`
  try {
    writeFileSync(markerOf(path), text, { mode: 0o600, flag: 'wx' })
  } catch {
    // Another process was faster, or only the file itself is writable: no marker then.
  }
}
