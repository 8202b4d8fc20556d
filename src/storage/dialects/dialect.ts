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
  /** Whether everybody may find it. What others may not find is kept apart, so that it has no part in how their results are ranked. */
  readonly isPublic: boolean
}

/** The named differences between engines. Nobody outside this folder asks which engine it is. */
export interface Dialect {
  /** The column type of file contents. */
  readonly blobType: 'blob' | 'bytea'
  /** Makes a column number its rows by itself, never using a number again. */
  identity(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  createTextIndex(db: Kysely<Database>): Promise<void>
  /** Writes or replaces the indexed text of one item; null takes it out. */
  indexText(db: Kysely<Database>, kind: ItemKind, seq: number, text: IndexedText | null): Promise<void>
  /**
   * A subquery `(seq, rank)` of the items whose text has all (or any) of the query's terms; a lower rank is a better match.
   * `among`: what everybody may find, or everything (for an actor with items of their own; the visibility rule still has to be applied).
   */
  matchText(
    kind: ItemKind,
    query: ParsedQuery,
    words: 'all' | 'any',
    among: 'public' | 'everything',
  ): RawBuilder<{ seq: number; rank: number }>
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
