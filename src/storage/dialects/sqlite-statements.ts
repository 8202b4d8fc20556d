import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import type { AppError } from '../../errors.ts'
import type { RunStatement } from '../prepared.ts'
import type { OnStatement } from './dialect.ts'

/** Prepared statements cached for each connection. */
const MAX_STATEMENTS = 300

/**
 * Kysely's SQLite interface over `node:sqlite`. `toFault` maps file faults. A transaction takes the write lock at its start ("begin
 * immediate"): otherwise another process could write between its first read and its first write.
 */
export function adapt(connection: DatabaseSync, toFault: (error: unknown) => AppError | null = () => null): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>()
  return {
    close: () => connection.close(),
    prepare(text) {
      const query = text === 'begin' ? 'begin immediate' : text
      // SQLite rolls back by itself after some faults; a second rollback would hide the error.
      if (query === 'rollback' && !connection.isTransaction) return NOTHING
      const known = statements.get(query)
      if (known) return known
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      const statement = adaptStatement(connection.prepare(query), toFault)
      statements.set(query, statement)
      return statement
    },
  }
}

/** Runs statements at once, and reports them as the query builder does. */
export function toRunner(database: SqliteDatabase, onStatement: OnStatement | undefined): RunStatement {
  const run: RunStatement = (text, parameters) => {
    const statement = database.prepare(text)
    if (statement.reader) return statement.all(parameters)
    statement.run(parameters)
    return []
  }
  if (!onStatement) return run
  return (text, parameters) => {
    const started = performance.now()
    try {
      return run(text, parameters)
    } finally {
      onStatement(text, performance.now() - started)
    }
  }
}

/** The commands of savepoints, compiled on first use: a connection to a file that is being created cannot compile yet. */
export function prepareSavepoints(connection: DatabaseSync) {
  const prepare = (...texts: readonly string[]) => {
    let statements: readonly StatementSync[] | undefined
    return () => {
      statements ??= texts.map((text) => connection.prepare(text))
      for (const statement of statements) statement.run()
    }
  }
  return { begin: prepare('savepoint job'), release: prepare('release job'), rollback: prepare('rollback to job', 'release job') }
}

/** A statement that does nothing. */
const NOTHING: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
}

function adaptStatement(statement: StatementSync, toFault: (error: unknown) => AppError | null): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all(parameters) {
      try {
        return statement.all(...bind(parameters))
      } catch (error) {
        throw toFault(error) ?? error
      }
    },
    run: (parameters) => statement.run(...bind(parameters)),
    iterate: (parameters) => statement.iterate(...bind(parameters)),
  }
}

function bind(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value
    if (value instanceof Uint8Array) return value
    throw new TypeError(`A ${typeof value} cannot be stored`)
  })
}

/** Longest wait of a checkpoint for readers and writers. */
const LOCK_WAIT_MS = 1_000

/** Checkpoints the log as far as readers allow, then truncates it; posts whether it could. */
const CHECKPOINT = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const file = new DatabaseSync(workerData, { timeout: ${LOCK_WAIT_MS} })
  file.exec('pragma wal_checkpoint(passive)')
  const { busy } = file.prepare('pragma wal_checkpoint(truncate)').get()
  file.close()
  parentPort.postMessage(busy === 0)
`

/** Size of a library's log in bytes; 0 without one. */
export function sizeOfLog(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Checkpoints and truncates the log on a worker thread: a large one takes too long to block for. False when others hold it or it failed;
 * the data is safe in the log.
 */
export async function emptyLogBeside(path: string): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const worker = new Worker(CHECKPOINT, { eval: true, workerData: path })
    worker.once('message', resolve)
    worker.once('error', () => resolve(false))
    worker.once('exit', () => resolve(false))
  })
}

/** Flushes what a transaction wrote into the log, so that its commit is short. */
export async function flushLog(path: string): Promise<void> {
  const log = await open(`${path}-wal`, 'r+')
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}
