/** The bytes of a snapshot of the search index, in their order. */
export interface SnapshotSource {
  /** Tells it from those that take its place. */
  readonly id: string
  /** The next bytes, valid until the next call. @throws RangeError where fewer are left */
  read(length: number): Promise<Buffer>
  isAtEnd(): Promise<boolean>
}

/** A snapshot that is being written. */
export interface SnapshotDraft {
  /** False when it was removed meanwhile: what it holds may have been purged. */
  write(bytes: Uint8Array): Promise<boolean>
  /** Puts it in the place of the last one. False when it was removed meanwhile. */
  finish(): Promise<boolean>
  /** Removes it. */
  discard(): Promise<void>
}

/** Where the snapshot of a library is. It holds one, and perhaps one that is being written. */
export interface SnapshotPlace {
  /** Names the place: a snapshot of another one is not read. */
  identify(): Promise<string>
  /**
   * Runs `work` on the finished snapshot, which stays the same meanwhile; null when there is none.
   * @param extent whether `work` reads the first record alone
   * @throws what the engine or the file system says
   */
  read<T>(extent: 'head' | 'all', work: (source: SnapshotSource) => Promise<T>): Promise<T | null>
  /**
   * Begins a snapshot, which nobody reads before it is finished. Null while another process writes one, or deletes for good.
   * @throws AppError `unavailable` where there is too little room for one
   */
  draft(): Promise<SnapshotDraft | null>
  /** Removes every snapshot, finished or not; with `id`, the finished one if it is that. */
  remove(id?: string): Promise<void>
  /** Removes what killed processes left. */
  removeUnfinished(): Promise<void>
}
