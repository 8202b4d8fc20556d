/**
 * A purge record: of an item (`first` and `last` null), or by `key` of a version or the content of a file. Without a key it only says that
 * versions are missing, and is not repeated.
 */
export interface Purge {
  readonly itemId: string
  readonly first: number | null
  readonly last: number | null
  readonly key: string | null
}
