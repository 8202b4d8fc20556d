/** A public item as it was when its embedding was found missing. `text` is what is to be embedded, `digest` is of it. */
export interface UnembeddedItem {
  readonly id: string
  readonly version: number
  readonly digest: string
  readonly text: string
}

/** How many public items there are, how many of them have a vector of a model, and how many have none yet. */
export interface EmbeddingCounts {
  readonly total: number
  readonly embedded: number
  readonly pending: number
}

/**
 * A provider's vectors of public items. A write that changes an item's text, or hides the item, deletes its vectors in the same
 * transaction. So the items without a vector are all the work there is.
 */
export interface EmbeddingStore {
  /**
   * Public items without a vector of this model, least recently changed first, beyond a position (0 is the beginning). Returns the new
   * position; no items means the end. Written items move to the end. Items claimed by another instance are left out for a while, unless
   * `stealsClaims`.
   */
  listUnembedded(
    model: string,
    after: number,
    limit: number,
    options?: { stealsClaims?: boolean },
  ): Promise<{ items: UnembeddedItem[]; position: number }>
  /** How long claims last without {@link renewClaims}; null for a single instance. */
  readonly claimMs: number | null
  renewClaims(model: string): Promise<void>
  /** Saves vectors of items that are still public and unchanged; returns how many. Deletes vectors of the model with other dimensions. */
  saveEmbeddings(model: string, embeddings: readonly { item: UnembeddedItem; vector: Float32Array }[]): Promise<number>
  countEmbeddings(model: string): Promise<EmbeddingCounts>
  /** Forgets the vectors of every model, or of every one but `keep`; gives how many there were. */
  forgetEmbeddings(keep: string | null): Promise<number>
}
