import type { ColumnDefinitionBuilder, Kysely, LogEvent } from 'kysely'
import type { DatabaseSize } from '../../domain/service/service.ts'
import type { Database } from '../schema.ts'
import type { FrozenStatements } from './frozen-statements.ts'
import type { SnapshotFile } from './snapshot-file.ts'

/** The named differences between engines. No code outside this folder depends on the engine. */
export interface Dialect extends FrozenStatements {
  /** The column type of file contents. */
  readonly blobType: 'blob' | 'bytea'
  /** Makes a column number its rows automatically, without reusing numbers. */
  identity(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** The last number of a table with such a column `seq`; 0 for none. */
  readIdentity(db: Kysely<Database>, table: string): Promise<number>
  /** Makes `last` + 1 the next number. */
  setIdentity(db: Kysely<Database>, table: string, last: number): Promise<void>
  /** Damage of the file's structure, and broken references; null where a server checks both. */
  findFaults(db: Kysely<Database>): Promise<{ readonly structure: readonly string[]; readonly references: readonly string[] } | null>
  /** The columns of every ordinary table the library's database has, as `table.column`. */
  readColumns(db: Kysely<Database>): Promise<ReadonlySet<string>>
  /** The columns of a table's primary key, in their order. */
  readKey(db: Kysely<Database>, table: string): Promise<readonly string[]>
}

/** Immediate signals between instances that share a database. Nothing depends on them: what is missed is found by polling. */
export interface Signals {
  /** Signals all instances, this one included, when the transaction commits. At most {@link MAX_SIGNAL_BYTES}. */
  send(transaction: Kysely<Database>, text: string): Promise<void>
  /** Calls with each signal, and with null whenever some may have been missed; returns how to stop. */
  listen(onSignal: (text: string | null) => void): () => Promise<void>
}

/** Longest signal, in bytes of UTF-8: a little below PostgreSQL's limit. */
export const MAX_SIGNAL_BYTES = 7_500

/** A database that is one file. */
export interface LibraryFile {
  readonly path: string
  /**
   * Copies it as of one moment, while others write to it. `finish` gets the path of the copy before it is renamed; false drops the copy.
   * @throws AppError `unavailable` for a damaged library; errors of the file system as they are
   */
  copyTo(target: string, finish?: (copy: string) => Promise<boolean>): Promise<void>
  /** Checkpoints and truncates the write-ahead log, so that deleted text is in no file. False when a reader holds it. */
  emptyLog(): Promise<boolean>
  /** Returns the space of removed rows to the file system in steps. */
  releaseRoom(): Promise<void>
  /** Rebuilds the file without free space. */
  compact(): Promise<void>
  /**
   * Keeps the last room of a disk for what deletes and repairs.
   * @throws AppError `unavailable` where the disk is nearly full
   */
  requireRoom(): void
}

/** Options of {@link OpenDatabase.transact}. */
export interface TransactOptions {
  /** Without time limits. */
  readonly isLong?: boolean
  /** It writes many megabytes, which are flushed off the main thread. */
  readonly isLarge?: boolean
  /** Those who write at the same time take turns. Default: one caller */
  readonly caller?: string
}

/** An opened database: one connection (or pool) for writing, one for reading, and how the engine differs. */
export interface OpenDatabase {
  readonly dialect: Dialect
  readonly writer: Kysely<Database>
  readonly reader: Kysely<Database>
  /**
   * Runs a transaction that holds the write lock from its start, without blocking the process while it waits. It may share a commit with
   * others, and resolves when it is durable.
   */
  transact<T>(work: (transaction: Kysely<Database>) => Promise<T>, options?: TransactOptions): Promise<T>
  /** Runs reads on a snapshot of the library, however long they take. */
  readSnapshot<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>
  /** The database file; null for a server. */
  readonly file: LibraryFile | null
  /** The file of the snapshot of the search index; null where there is no folder for one. */
  readonly snapshots: SnapshotFile | null
  /** null where only one process uses the database. */
  readonly signals: Signals | null
  /** How many processes of other versions listen to a server; null without one. */
  readonly countOtherVersions: (() => Promise<number>) | null
  /**
   * Checks that the library is usable: reads a row, and writes if the last write failed.
   * @throws AppError `unavailable`, or what the engine says
   */
  check(): Promise<void>
  /**
   * Checks that the library is writable; changes nothing.
   * @throws AppError `unavailable` where the library cannot be written to
   */
  checkWrite(): Promise<void>
  /** Its location and size; cheap. */
  measure(): Promise<DatabaseSize>
  /** Connections to a server, and waiting callers; null without a server. */
  readUsage(): { readonly busy: number; readonly idle: number; readonly waiting: number } | null
  close(): Promise<void>
}

/** Called with each statement, without its values, and its duration. */
export type OnStatement = (text: string, durationMs: number) => void

/** Kysely's option that calls `onStatement`. */
export function watchStatements(onStatement: OnStatement | undefined): { log?: (event: LogEvent) => void } {
  return onStatement ? { log: ({ query, queryDurationMillis }) => onStatement(query.sql, queryDurationMillis) } : {}
}
