/** One page of what was found, or of a list. */
export interface SearchResult<T> {
  readonly items: readonly T[]
  /** Exact number of what matches, over all pages. */
  readonly total: number
}
