import type { ItemKind } from '../items.ts'
import type { Visibility } from '../visibility.ts'

/** The results of an entry. */
export const IMPORT_OUTCOMES = ['created', 'updated', 'unchanged', 'kept', 'refused'] as const
export type ImportOutcomeName = (typeof IMPORT_OUTCOMES)[number]

/** An entry of an import: before it is done, `outcome` says what would become of it. */
export interface ImportEntry {
  /** From 1. */
  readonly number: number
  /** Where it stands: a file, and a row in it. */
  readonly name: string
  /** Null: it could not be read. */
  readonly title: string | null
  readonly kind: ItemKind | null
  readonly outcome: ImportOutcomeName
  /** Why, or what else is to say. */
  readonly remark: string | null
  readonly isDone: boolean
  /** Of the item it became, or is; null: none yet. */
  readonly itemId: string | null
}

/** An entry with what it holds, as JSON; null for one that is refused. */
export type FullImportEntry = ImportEntry & { readonly body: string | null }

/** An import that somebody began, and how far it is. */
interface StoredImport {
  readonly id: string
  /** Of entries that state none; null: the setting of the person. */
  readonly visibility: Visibility | null
  readonly createdAt: string
  readonly total: number
  readonly done: number
  /** Entries by outcome. */
  readonly counts: Readonly<Record<ImportOutcomeName, number>>
}

/** Imports that people began on a page, each read by its owner alone. `oldest` is a time: what is older is over. */
export interface ImportStore {
  /** Keeps an import in place of the person's earlier ones, and removes what is over. */
  keepImport(
    userId: string,
    made: { readonly visibility: Visibility | null; readonly entries: readonly Omit<FullImportEntry, 'number'>[] },
    oldest: string,
  ): Promise<string>
  findImport(userId: string, id: string, oldest: string): Promise<StoredImport | null>
  /** Entries of one outcome, or of all, in their order, without what they hold. */
  listImportEntries(
    id: string,
    page: { readonly outcome: ImportOutcomeName | null; readonly limit: number; readonly offset: number },
  ): Promise<ImportEntry[]>
  /** The next entries that are not done, in their order, at most `limit` and about `maxLength` UTF-16 units of what they hold, at least one. */
  nextImportEntries(id: string, limit: number, maxLength: number): Promise<FullImportEntry[]>
  /** Writes the results of entries, and forgets what they held. */
  finishImportEntries(id: string, entries: readonly Pick<ImportEntry, 'number' | 'outcome' | 'remark' | 'itemId'>[]): Promise<void>
}
