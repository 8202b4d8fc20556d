/** One path of a synced folder as both sides had it at the end of the last sync. */
export interface SyncedPath {
  /** `prompts/NAME.md`, or `skills/NAME` for a folder. */
  readonly path: string
  /** Of an item that may be gone. */
  readonly itemId: string
  /** Hex SHA-256 of what the folder had. */
  readonly digest: string
  /** Hex SHA-256 of the item as a file. It differs from `digest` where the file is written in another way. */
  readonly libraryDigest: string
  /** Of the item. */
  readonly version: number
}
