import { accessSync, chmodSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { AppError, type StorageFault } from '../../errors.ts'
import { listCopies } from '../backup/library-copies.ts'
import { prepareStatement, runDirectly } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { type Dialect, type OnStatement, type OpenDatabase, watchStatements } from './dialect.ts'
import { sqliteFrozen } from './frozen-statements.ts'
import { createGroupCommit } from './group-commit.ts'
import { snapshotFile } from './snapshot-file.ts'
import { copySqliteFile, refuseForeignLog } from './sqlite-copy.ts'
import { adapt, emptyLogBeside, flushLog, prepareSavepoints, sizeOfLog, toRunner } from './sqlite-statements.ts'

/** Result codes of SQLite (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5
/** READONLY_DBMOVED: the file was renamed or deleted since it was opened. */
const SQLITE_MOVED = 1032
const DAMAGED = 'The library file is damaged. Check it with "doctor", or restore a backup.'
const READ_ONLY = 'The library cannot be written to: its file or folder is read-only for the service.'
const FULL = 'The library cannot be written to: its disk is full.'
/** Faults of the file and its disk, not of the statement, by their primary result codes. */
const DISK_FAULTS: ReadonlyMap<number, { readonly fault: StorageFault; readonly message: string }> = new Map([
  [8, { fault: 'readonly', message: READ_ONLY }],
  [10, { fault: 'io', message: 'The library cannot be read or written: its disk is failing.' }],
  [11, { fault: 'damaged', message: DAMAGED }],
  [13, { fault: 'full', message: FULL }],
  [26, { fault: 'damaged', message: DAMAGED }],
])
const MOVED = 'The library file was moved or deleted while the service ran. Put it back, or restart the service.'
/** Longest wait for another process's transaction before `unavailable`. */
const LOCK_WAIT_MS = 15_000
/** How long a connection that is about to close may still use a file. */
const IN_USE_MS = 1_000
/** Between attempts to turn WAL on. */
const LOG_RETRY_MS = 5
/** Attempts to empty the log. */
const LOG_ATTEMPTS = 20
/** Size from which the log is emptied on a worker thread. */
const LARGE_LOG = 8 * 1024 * 1024
/** Pages (of 4 KiB) after which a commit checkpoints. With SQLite's own 1,000, every commit of an import would, and write the same pages again. */
const LOG_PAGES = 4_000
/** Bytes of the disk that saves leave free, at most this share of it: the log and what deletes need some. */
const KEPT_ROOM = 100_000_000
const KEPT_SHARE = 0.01
/** Temporary data stays in memory: a container with a read-only root has no folder for it. */
const TEMP_IN_MEMORY = 'pragma temp_store = memory'
/** Pages returned to the file system in one transaction. */
const PAGES_A_STEP = 500
const truncateLog = prepareStatement(sql<{ busy: number }>`pragma wal_checkpoint(truncate)`)

/** How SQLite differs. */
export const sqliteDialect: Dialect = {
  ...sqliteFrozen,
  blobType: 'blob',
  identity: (column) => column.primaryKey().autoIncrement(),
  async readIdentity(db, table) {
    const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(db)
    return rows[0]?.seq ?? 0
  },
  async setIdentity(db, table, last) {
    await sql`delete from sqlite_sequence where name = ${table}`.execute(db)
    await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(db)
  },
  async findFaults(db) {
    const structure = await sql<{ integrity_check: string }>`pragma integrity_check(20)`.execute(db)
    const references = await sql<{ table: string; rowid: number | null; parent: string }>`pragma foreign_key_check`.execute(db)
    return {
      structure: structure.rows.map((row) => row.integrity_check).filter((line) => line !== 'ok'),
      references: references.rows.map(({ table, rowid, parent }) => `row ${rowid} of ${table} refers to a missing ${parent}`),
    }
  },
  async readColumns(db) {
    const { rows } = await sql<{ place: string }>`
      select tables.name || '.' || columns.name as place
      from pragma_table_list as tables, pragma_table_info(tables.name) as columns
      where tables.schema = 'main' and tables.type = 'table'`.execute(db)
    return new Set(rows.map(({ place }) => place))
  },
  async readKey(db, table) {
    const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${table}) where pk > 0 order by pk`.execute(db)
    return rows.map(({ name }) => name)
  },
}

function resultCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0
}

/** The error for a fault of the file or its disk; null for other errors. */
function toDiskFault(error: unknown): AppError | null {
  const code = resultCode(error)
  const known = code === SQLITE_MOVED ? ({ fault: 'moved', message: MOVED } as const) : DISK_FAULTS.get(code & 0xff)
  return known === undefined ? null : new AppError('unavailable', known.message, { cause: error, fault: known.fault })
}

/** Whether a folder is not writable: SQLite only says that it cannot open the file. */
function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return false
  } catch {
    return true
  }
}

/** The identity of the file at a path; null without one. */
function identify(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found ? `${found.dev} ${found.ino}` : null
}

/** Turns WAL on. SQLite does not wait for a process that does the same, as when several create a file. */
function useLog(connection: DatabaseSync): void {
  const deadline = performance.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      connection.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (resultCode(error) !== SQLITE_BUSY || performance.now() > deadline) throw error
      // Opening is synchronous, and waits for locks in this thread too.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOG_RETRY_MS)
    }
  }
}

/**
 * Opens or creates a library file: WAL, foreign keys, every commit on disk before it is acknowledged. Two connections, because Kysely's
 * SQLite driver serializes one: reads never wait for a write.
 */
export function openSqlite(path: string, onStatement?: OnStatement): OpenDatabase {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const isNew = !existsSync(path)
  const isEmpty = isNew || statSync(path).size === 0
  if (!isNew) refuseForeignLog(path)
  const before = identify(path)
  const writing = new DatabaseSync(path, { timeout: LOCK_WAIT_MS })
  // It holds private items: readable by its owner alone unless the owner changes that.
  if (isNew) chmodSync(path, 0o600)
  // Only possible before the first table: space is returned in steps.
  if (isEmpty) writing.exec('pragma auto_vacuum = incremental')
  // Deleted data is overwritten: a deleted account must not be readable in the file.
  try {
    useLog(writing)
    writing.exec('pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on')
  } catch (error) {
    writing.close()
    // SQLite's own message, that it cannot open the file, hides the reason.
    throw isReadOnly(dirname(path)) ? new AppError('unavailable', `${READ_ONLY.slice(0, -1)} (${path}).`) : error
  }
  writing.exec(`${TEMP_IN_MEMORY}; pragma wal_autocheckpoint = ${LOG_PAGES}`)
  const opened = before ?? identify(path)
  // A restore may have replaced the file while this waited.
  if (identify(path) !== opened) {
    writing.close()
    throw new AppError('unavailable', `The library at ${path} was replaced while it was opened; try again.`)
  }
  const reading = new DatabaseSync(path, { timeout: 1000 })
  reading.exec('pragma foreign_keys = on; pragma query_only = on; pragma cache_size = -4000')
  reading.exec(TEMP_IN_MEMORY)
  /** Data written to an unlinked file is lost. */
  const requireFile = () => {
    if (identify(path) === opened) return
    throw new AppError('unavailable', MOVED, { cause: new Error(`${path} is not the file that was opened`), fault: 'moved' })
  }
  let hasWriteFault = false
  // Compiled on first use: while another process creates the file, this connection would not wait long enough.
  const [writingStatements, readingStatements] = [adapt(writing), adapt(reading, toDiskFault)]
  const writer = new Kysely<Database>({ dialect: new SqliteDialect({ database: writingStatements }), ...watchStatements(onStatement) })
  const reader = new Kysely<Database>({ dialect: new SqliteDialect({ database: readingStatements }), ...watchStatements(onStatement) })
  const runOnWriter = toRunner(writingStatements, onStatement)
  runDirectly(reader, toRunner(readingStatements, onStatement))
  /** Runs one transaction on its own. The commit blocks the process until it is on disk. */
  const transactAlone = async <T>(work: (transaction: Kysely<Database>) => Promise<T>, isLarge: boolean): Promise<T> => {
    // The driver waits for a lock by blocking the process: wait a moment there, and the rest here.
    writing.exec('pragma busy_timeout = 20')
    const deadline = performance.now() + LOCK_WAIT_MS
    for (let delayMs = 5; ; delayMs = Math.min(delayMs * 2, 200)) {
      let hasStarted = false
      try {
        requireFile()
        const result = await writer.transaction().execute(async (transaction) => {
          hasStarted = true
          if (isLarge) writing.exec('pragma wal_autocheckpoint = 0')
          const stop = runDirectly(transaction, runOnWriter)
          try {
            const done = await work(transaction)
            if (isLarge) await flushLog(path)
            return done
          } finally {
            stop()
          }
        })
        if (isLarge) await emptyLogBeside(path)
        // Before the save is acknowledged.
        requireFile()
        hasWriteFault = false
        return result
      } catch (error) {
        const fault = toDiskFault(error)
        if (fault) {
          hasWriteFault = true
          throw fault
        }
        if (hasStarted || resultCode(error) !== SQLITE_BUSY) throw error
        if (performance.now() > deadline) {
          throw new AppError('unavailable', 'Another process has been writing to the library file for too long; try again.', {
            cause: error,
          })
        }
        await sleep(delayMs)
      } finally {
        if (isLarge) writing.exec(`pragma wal_autocheckpoint = ${LOG_PAGES}`)
      }
    }
  }
  const savepoints = prepareSavepoints(writing)
  const commitInGroups = createGroupCommit({
    run: (work) => transactAlone(work, false),
    savepoint: savepoints,
    isOpen: () => writing.isTransaction,
    explain(error) {
      const fault = toDiskFault(error)
      if (fault) hasWriteFault = true
      return fault ?? error
    },
  })
  const transact: OpenDatabase['transact'] = async (work, { isLong = false, isLarge = false, caller = '' } = {}) =>
    isLong || isLarge ? await transactAlone(work, isLarge) : await commitInGroups(work, caller)
  const measureFree = ({ bavail, bsize } = statfsSync(dirname(path))) => bavail * bsize
  const requireRoom = () => {
    const disk = statfsSync(dirname(path))
    const free = measureFree(disk)
    if (free >= Math.min(KEPT_ROOM, disk.blocks * disk.bsize * KEPT_SHARE)) return
    hasWriteFault = true
    const cause = new Error(`With ${free} bytes left, the disk counts as full.`)
    throw new AppError('unavailable', FULL, { fault: 'full', cause })
  }
  const checkWrite = async () => {
    await transact(async (transaction) => {
      const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(transaction)
      // Writing the same number is a write.
      await sql`pragma user_version = ${sql.lit(rows[0]?.user_version ?? 0)}`.execute(transaction)
    })
  }
  let anyRow: StatementSync | undefined
  const emptyHere = async () => {
    const [row] = await truncateLog(writer, {})
    return row?.busy === 0
  }
  const emptyLog = async () => {
    // An active reader, here or in another process, holds the log: wait a little.
    for (let attempt = 0; attempt < LOG_ATTEMPTS; attempt++) {
      if (sizeOfLog(path) > LARGE_LOG ? await emptyLogBeside(path) : await emptyHere()) return true
      await sleep(50)
    }
    return false
  }
  return {
    dialect: sqliteDialect,
    writer,
    reader,
    file: {
      path,
      copyTo: (target, finish) => copySqliteFile(path, target, finish),
      requireRoom,
      emptyLog,
      async releaseRoom() {
        const count = () => Number(writing.prepare('pragma freelist_count').get()?.['freelist_count'])
        // A file from before 0.2.0 keeps its free pages until it is compacted; their number does not change.
        for (let last = Number.POSITIVE_INFINITY; ; ) {
          const free = await transact(async () => {
            const left = count()
            if (left > 0 && left < last) writing.exec(`pragma incremental_vacuum(${PAGES_A_STEP})`)
            return left
          })
          if (free === 0 || free >= last) return
          last = free
        }
      },
      async compact() {
        // The temporary file is as large as the library: put it in its folder, not in memory.
        const folder = dirname(resolve(path)).replaceAll("'", "''")
        writing.exec(`pragma temp_store_directory = '${folder}'; pragma temp_store = file`)
        try {
          // Enables returning space for files from before 0.2.0.
          writing.exec('pragma auto_vacuum = incremental')
          await sql`vacuum`.execute(writer)
        } finally {
          writing.exec(TEMP_IN_MEMORY)
        }
        await emptyLog()
      },
    },
    snapshots: snapshotFile(path),
    signals: null,
    countOtherVersions: null,
    transact,
    readSnapshot: (work) => readSqliteFile(path, work),
    readUsage: () => null,
    measure: async () => ({
      engine: 'SQLite',
      place: basename(path),
      bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
      logBytes: sizeOfLog(path),
      freeBytes: measureFree(),
      beside: listCopies(path, null)
        .map((copy) => ({ name: basename(copy.path), bytes: copy.bytes }))
        .toSorted((one, other) => other.bytes - one.bytes),
    }),
    async check() {
      requireFile()
      try {
        // A different row each time, to notice local damage.
        anyRow ??= reading.prepare(
          'select title, content from item where seq >= (select abs(random()) % (coalesce(max(seq), 0) + 1) from item) order by seq limit 1',
        )
        anyRow.get()
      } catch (error) {
        throw toDiskFault(error) ?? error
      }
      if (!hasWriteFault) return
      requireRoom()
      await checkWrite()
    },
    checkWrite,
    async close() {
      await reader.destroy()
      await writer.destroy()
      for (const connection of [reading, writing]) if (connection.isOpen) connection.close()
    },
  }
}

/** Whether another connection, of this process or of another, uses a library file. */
export function isInUse(path: string): boolean {
  const connection = new DatabaseSync(path, { timeout: IN_USE_MS })
  try {
    // Entering the log with an exclusive lock needs the file to itself.
    connection.exec('pragma locking_mode = exclusive; begin immediate; rollback')
    return false
  } catch (error) {
    if (resultCode(error) !== SQLITE_BUSY) throw error
    return true
  } finally {
    connection.close()
  }
}

/** Whether an error means that another connection has the file. */
export function isBusy(error: unknown): boolean {
  return (resultCode(error) & 0xff) === SQLITE_BUSY
}

/** The query builder on a connection. */
export function queryConnection(connection: DatabaseSync): Kysely<Database> {
  return new Kysely<Database>({ dialect: new SqliteDialect({ database: adapt(connection) }) })
}

/** Runs `work` on an empty database in memory. */
export async function inMemory<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const db = queryConnection(new DatabaseSync(':memory:'))
  return await work(db).finally(() => db.destroy())
}

/** Runs `work` on a snapshot of a library file, also a stranger's: without writing or migrating, and trusting nothing in its schema. */
export async function readSqliteFile<T>(path: string, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS, defensive: true })
  connection.exec(`${TEMP_IN_MEMORY}; pragma trusted_schema = off`)
  const db = queryConnection(connection)
  try {
    connection.exec('begin')
    // Rolled back: a commit fails on a damaged file, and nothing was written.
    return await work(db)
  } finally {
    await db.destroy()
    if (connection.isOpen) connection.close()
  }
}
