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

/** The last synced state of folders, by user and target. A target is at most 1,000 characters. */
export interface SyncStore {
  listSynced(userId: string, target: string): Promise<SyncedPath[]>
  /**
   * Replaces the state of one path.
   * @param from the state that was read, null for none
   * @param to null: removes it
   * @throws AppError `conflict` when the state is no longer `from`: another sync of this folder runs
   */
  saveSynced(userId: string, target: string, from: SyncedPath | null, to: SyncedPath | null): Promise<void>
}
