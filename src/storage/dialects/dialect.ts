import type { ColumnDefinitionBuilder, Kysely, LogEvent } from 'kysely'
import type { DatabaseSize } from '../../library/service.ts'
import type { Database } from '../schema.ts'

/** The named differences between engines. Nobody outside this folder asks which engine it is. */
export interface Dialect {
  /** The column type of file contents. */
  readonly blobType: 'blob' | 'bytea'
  /** Makes a column number its rows by itself, never using a number again. */
  identity(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** The last number that a table with such a column `seq` gave; 0 for none. */
  readIdentity(db: Kysely<Database>, table: string): Promise<number>
  /** Makes the next number it gives the one after `last`. */
  setIdentity(db: Kysely<Database>, table: string, last: number): Promise<void>
  /**
   * Creates triggers that raise the revision of a scope with each change of these tables, or of these columns of their rows. Part of migration
   * 0014: not to be edited.
   */
  raiseRevision(
    db: Kysely<Database>,
    scope: string,
    tables: readonly { readonly table: string; readonly columns?: readonly string[] }[],
  ): Promise<void>
  isUniqueViolation(error: unknown): boolean
  /** What is wrong with the file's structure, and with rows that refer to others; null where a server sees to that. */
  findFaults(db: Kysely<Database>): Promise<{ readonly structure: readonly string[]; readonly references: readonly string[] } | null>
  /** The columns of every table the library's database has, as `table.column`. */
  readColumns(db: Kysely<Database>): Promise<ReadonlySet<string>>
  /** Where the engine itself can compare vectors: ready for use, with all there are. null where it cannot, and they are compared in this process. */
  openVectors(database: OpenDatabase): Promise<VectorTable | null>
}

/** What is compared with a query: the vectors of public items, of one model. */
export interface VectorRequest {
  readonly model: string
  readonly seqs: readonly number[]
  readonly query: Float32Array
  /** What is taken out of both, of as many dimensions. */
  readonly centre: Float32Array
}

/** Vectors in a form the engine can compare, beside those of `embedding_vector`. */
export interface VectorTable {
  /** In the transaction that keeps the embedding itself. */
  keep(transaction: Kysely<Database>, embeddingSeq: number, vector: Float32Array): Promise<void>
  /** Cosines by row number of the item; one that has no vector, or is not public, is not in it. */
  compare(db: Kysely<Database>, request: VectorRequest): Promise<ReadonlyMap<number, number>>
}

/** What instances of the service that share a database tell each other at once. Nothing depends on it: what is missed is found later. */
export interface Signals {
  /** Tells all instances, this one too, when the transaction is durable. At most {@link MAX_SIGNAL_BYTES}. */
  send(transaction: Kysely<Database>, text: string): Promise<void>
  /** Calls with each signal, and with null whenever some may have been missed; returns how to stop. */
  listen(onSignal: (text: string | null) => void): () => Promise<void>
}

/** Longest signal, in bytes of UTF-8: what PostgreSQL takes, less some room. */
export const MAX_SIGNAL_BYTES = 7_500

/** A database that is one file. */
export interface LibraryFile {
  readonly path: string
  /**
   * Copies it to another, as it is at one moment, beside whoever writes to it. `finish` gets the path of the copy before that takes its name;
   * false from it drops the copy.
   * @throws AppError `unavailable` for a damaged library; errors of the file system as they are
   */
  copyTo(target: string, finish?: (copy: string) => Promise<boolean>): Promise<void>
}

/** An opened database: one connection (or pool) for writing, one for reading, and how the engine differs. */
export interface OpenDatabase {
  readonly dialect: Dialect
  readonly writer: Kysely<Database>
  readonly reader: Kysely<Database>
  /** Runs a transaction that holds the write lock from its start, waiting its turn without blocking the process. `isLong`: for as long as it takes. `isLarge`: it writes many megabytes, which the process does not wait for. */
  transact<T>(work: (transaction: Kysely<Database>) => Promise<T>, options?: { isLong?: boolean; isLarge?: boolean }): Promise<T>
  /** Runs what only reads on the library as it is at one moment, however long it takes and whoever writes meanwhile. */
  readSnapshot<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>
  /**
   * Runs a transaction that waits for no writer of the library and is counted as no change of it: for records beside it. Several may run at once,
   * so each statement must be right by itself; it may be run again from its start.
   */
  sideTransaction<T>(work: (transaction: Kysely<Database>) => Promise<T>): Promise<T>
  /** The file that is the database; null where a server keeps it. */
  readonly file: LibraryFile | null
  /** null where one process has the database to itself. */
  readonly signals: Signals | null
  /** Empties the log of changes into the database, so that what was deleted is in none of its files. False when others who read it keep it. */
  emptyLog(): Promise<boolean>
  /** Gives the room of removed rows back to the file system, a part at a time; nothing where a server does so by itself. */
  releaseRoom(): Promise<void>
  /**
   * Looks whether the library can be used: reads a row of it, and writes where the last write failed.
   * @throws AppError `unavailable`, or what the engine says
   */
  check(): Promise<void>
  /** Writes without changing anything. @throws AppError `unavailable` where the library cannot be written to */
  checkWrite(): Promise<void>
  /** Writes the database anew without the room that removed rows left; nothing where a server does so by itself. */
  compact(): Promise<void>
  /** Where it is and how large; cheap. */
  measure(): Promise<DatabaseSize>
  /** Connections to a server, and what waits for one; null where there is no server. */
  readUsage(): { readonly busy: number; readonly idle: number; readonly waiting: number } | null
  close(): Promise<void>
}

/** Hears of each statement, without its values, and how long it took. */
export type OnStatement = (text: string, durationMs: number) => void

/** What tells Kysely to have `onStatement` hear. */
export function watchStatements(onStatement: OnStatement | undefined): { log?: (event: LogEvent) => void } {
  return onStatement ? { log: ({ query, queryDurationMillis }) => onStatement(query.sql, queryDurationMillis) } : {}
}
