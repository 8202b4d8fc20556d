import type { ColumnDefinitionBuilder, Kysely, RawBuilder } from 'kysely'
import type { ItemKind } from '../../library/items.ts'
import type { ParsedQuery } from '../../library/search.ts'
import type { Database } from '../schema.ts'

/** What the full-text index holds of one item, already through `toIndexText`. */
export interface IndexedText {
  readonly title: string
  readonly description: string
  readonly tags: string
  readonly content: string
}

/** The named differences between engines. Nobody outside this folder asks which engine it is. */
export interface Dialect {
  /** The column type of file contents. */
  readonly blobType: 'blob' | 'bytea'
  /** Makes a column number its rows by itself, never using a number again. */
  identity(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  createTextIndex(db: Kysely<Database>): Promise<void>
  /** Writes or replaces the indexed text of one item. */
  indexText(db: Kysely<Database>, kind: ItemKind, seq: number, text: IndexedText): Promise<void>
  /** A subquery `(seq, rank)` of the items whose text has all (or any) of the query's terms; a lower rank is a better match. */
  matchText(kind: ItemKind, query: ParsedQuery, words: 'all' | 'any'): RawBuilder<{ seq: number; rank: number }>
  isUniqueViolation(error: unknown): boolean
}

/** An opened database: one connection (or pool) for writing, one for reading, and how the engine differs. */
export interface OpenDatabase {
  readonly dialect: Dialect
  readonly writer: Kysely<Database>
  readonly reader: Kysely<Database>
  /** Runs a transaction that holds the write lock from its start, waiting its turn without blocking the process. */
  transact<T>(work: (transaction: Kysely<Database>) => Promise<T>): Promise<T>
  close(): Promise<void>
}
