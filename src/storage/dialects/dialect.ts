import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** The named differences between engines. Nobody outside this folder asks which engine it is. */
export interface Dialect {
  /** The column type of file contents. */
  readonly blobType: 'blob' | 'bytea'
  /** Makes a column number its rows by itself, never using a number again. */
  identity(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** A number that differs whenever another connection has committed since it was last asked for on this one. */
  readVersion(db: Kysely<Database>): Promise<number>
  isUniqueViolation(error: unknown): boolean
}

/** An opened database: one connection (or pool) for writing, one for reading, and how the engine differs. */
export interface OpenDatabase {
  readonly dialect: Dialect
  readonly writer: Kysely<Database>
  readonly reader: Kysely<Database>
  /** Runs a transaction that holds the write lock from its start, waiting its turn without blocking the process. */
  transact<T>(work: (transaction: Kysely<Database>) => Promise<T>): Promise<T>
  /** Empties the log of changes into the database, so that what was deleted is in none of its files; as far as others who read it let it. */
  emptyLog(): Promise<void>
  close(): Promise<void>
}
