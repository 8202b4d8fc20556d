import { type ColumnDefinitionBuilder, type Kysely, type LogEvent, sql } from 'kysely'
import type { RevisionScope } from '../../library/ports/store.ts'
import type { DatabaseSize, ReplicaState } from '../../library/service.ts'
import type { Database } from '../schema.ts'
import type { SnapshotPlace } from './snapshot-place.ts'

/** The named differences between engines. No code outside this folder depends on the engine. */
export interface Dialect {
  /** The column type of file contents. */
  readonly blobType: 'blob' | 'bytea'
  /** Makes a column number its rows automatically, without reusing numbers. */
  identity(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** The last number of a table with such a column `seq`; 0 for none. */
  readIdentity(db: Kysely<Database>, table: string): Promise<number>
  /** Makes `last` + 1 the next number. */
  setIdentity(db: Kysely<Database>, table: string, last: number): Promise<void>
  /**
   * Creates triggers that raise the revision of a scope with each change of these tables, or of these columns of their rows. Part of migration
   * 0014: not to be edited.
   */
  raiseRevision(db: Kysely<Database>, scope: string, tables: readonly RevisedTable[]): Promise<void>
  /** Adds such triggers for further tables, where `raiseRevision` has run. Part of migration 0015: not to be edited. */
  addRevisionTriggers(db: Kysely<Database>, scope: string, tables: readonly RevisedTable[]): Promise<void>
  /** Creates a trigger that runs after each row of an event. Part of migration 0034: not to be edited. */
  addTrigger(db: Kysely<Database>, trigger: Trigger): Promise<void>
  /** Adds what marks transactions for reads from replicas; nothing where there are none. Part of migration 0036: not to be edited. */
  markTransactions(db: Kysely<Database>): Promise<void>
  isUniqueViolation(error: unknown): boolean
  /** Waits until no other transaction gives numbers in the order of commits, and keeps others from it until this one has committed. */
  lockNumbers(db: Kysely<Database>): Promise<void>
  /** Drops marks of transactions that came with a dump from another server, where marks are kept. */
  dropForeignMarks(db: Kysely<Database>): Promise<void>
  /** Lets the triggers of revisions run at the commit, where several write at once. Part of migration 0035: not to be edited. */
  deferTriggers(db: Kysely<Database>): Promise<void>
  /** Creates the tables of the snapshot of the search index, where the engine keeps it in tables. Part of migration 0037: not to be edited. */
  createSnapshotTables(db: Kysely<Database>): Promise<void>
  /** Damage of the file's structure, and broken references; null where a server checks both. */
  findFaults(db: Kysely<Database>): Promise<{ readonly structure: readonly string[]; readonly references: readonly string[] } | null>
  /** The columns of every table the library's database has, as `table.column`. */
  readColumns(db: Kysely<Database>): Promise<ReadonlySet<string>>
  /** The table in which the engine compares vectors, filled; null where it cannot and this process compares them. */
  openVectors(database: OpenDatabase): Promise<VectorTable | null>
}

/** A table whose changes raise a revision; with `columns`, only updates of those count. */
export interface RevisedTable {
  readonly table: string
  readonly columns?: readonly string[]
}

/** A trigger of one event. `body` and `when` are SQL that every engine knows, over the rows `old` and `new`. */
export interface Trigger {
  readonly name: string
  readonly table: string
  readonly event: 'insert' | 'update' | 'delete'
  /** Only updates of these columns count. Default: all */
  readonly columns?: readonly string[]
  readonly when?: string
  /** Statements, each with its semicolon. */
  readonly body: string
  /** The scope of `revision` whose row is locked first, until the transaction ends, where several write at once. */
  readonly locks: string
}

/** The event of a trigger with its columns. */
export function eventOf({ event, columns }: Trigger) {
  return columns ? sql`${sql.raw(event)} of ${sql.join(columns.map((column) => sql.ref(column)))}` : sql.raw(event)
}

/** A comparison of a query with vectors of public items, of one model. */
export interface VectorRequest {
  readonly model: string
  readonly seqs: readonly number[]
  readonly query: Float32Array
  /** Subtracted from both; of the same dimensions. */
  readonly centre: Float32Array
}

/** Vectors in a form the engine can compare, beside those of `embedding_vector`. */
export interface VectorTable {
  /** Writes a vector in the transaction that writes the embedding. */
  keep(transaction: Kysely<Database>, embeddingSeq: number, vector: Float32Array): Promise<void>
  /** Cosines by row number of the item. Items without a vector, or not public, are missing. */
  compare(db: Kysely<Database>, request: VectorRequest): Promise<ReadonlyMap<number, number>>
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
}

/** The last steps of the writes of one commit. `results` has what each of them gave, in order. */
export type Finish<T> = (transaction: Kysely<Database>, results: readonly T[]) => Promise<void>

/** Options of {@link OpenDatabase.transact}. */
export interface TransactOptions<T> {
  /** Without time limits. */
  readonly isLong?: boolean
  /** It writes many megabytes, which are flushed off the main thread. */
  readonly isLarge?: boolean
  /** Those who write at the same time take turns. Default: one caller */
  readonly caller?: string
  /**
   * It runs beside other concurrent writes, of this process and of others, and from its start again after a collision: it locks the rows that it
   * depends on. Others run alone.
   */
  readonly isConcurrent?: boolean
  /** Runs at the end of the transaction: once for all concurrent writes that share it, where they name the same function. */
  readonly finish?: Finish<T>
  /** About how long `finish` will work on a result, in milliseconds: a transaction with much to finish takes no more writes. Default: not at all */
  readonly finishMs?: (result: T) => number
}

/** A server that follows the primary and answers reads where it may. */
export interface Replica {
  /** Each statement goes to the replica where the request it belongs to allows that, and to the primary otherwise. */
  readonly reader: Kysely<Database>
  /** Runs what answers one request, of a user or of an anonymous reader. Outside of it every read goes to the primary. */
  answer<T>(userId: string | null, work: () => T): T
  /** The request reads from the primary from here on: it writes. */
  stayOnPrimary(): void
  /** The request takes this revision of the primary for that of what it reads from here on. */
  requireRevision(scope: RevisionScope, revision: number): void
  /** The revision of what the request read: that of the replica where it read from there and that is lower. */
  revisionOfReads(scope: RevisionScope, revision: number): number
  /** Asks both servers how far the replica is. */
  readState(): Promise<ReplicaState>
  /** Statements since the start that could go to either. */
  countReads(): { readonly replica: number; readonly primary: number }
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
  transact<T>(work: (transaction: Kysely<Database>) => Promise<T>, options?: TransactOptions<T>): Promise<T>
  /** Runs reads on a snapshot of the library, however long they take. */
  readSnapshot<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>
  /**
   * Runs a transaction that does not wait for the write lock: for bookkeeping that no answer shows. Several run concurrently, so each
   * statement must be atomic by itself. It may be retried from its start.
   */
  sideTransaction<T>(work: (transaction: Kysely<Database>) => Promise<T>): Promise<T>
  /** null: all reads go to the primary. */
  readonly replica: Replica | null
  /** The database file; null for a server. */
  readonly file: LibraryFile | null
  /** Where the snapshot of the search index is. */
  readonly snapshots: SnapshotPlace
  /** null where only one process uses the database. */
  readonly signals: Signals | null
  /** Checkpoints and truncates the write-ahead log, so that deleted text is in no file. False when a reader holds it. */
  emptyLog(): Promise<boolean>
  /** Returns the space of removed rows to the file system in steps; does nothing where a server does it. */
  releaseRoom(): Promise<void>
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
  /** Rebuilds the database without free space; does nothing where a server does it. */
  compact(): Promise<void>
  /**
   * Keeps the last room of a disk for what deletes and repairs; does nothing where a server has it.
   * @throws AppError `unavailable` where the disk is nearly full
   */
  requireRoom(): void
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
