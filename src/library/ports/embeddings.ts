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
 * Vectors a provider made, of public items alone. A write that changes an item's text, or takes it out of the public's sight, takes its vectors
 * away in the same transaction; so what has no vector is all there is to do, whoever did what before.
 */
export interface EmbeddingStore {
  /**
   * Public items without a vector of this model, least recently changed first, beyond a position (0 is the beginning). Gives the position it came to;
   * no items means there are none beyond. Written items move to the end. What another instance was given is left out for a while, unless
   * `stealsClaims`.
   */
  listUnembedded(
    model: string,
    after: number,
    limit: number,
    options?: { stealsClaims?: boolean },
  ): Promise<{ items: UnembeddedItem[]; position: number }>
  /** How long what was given out is kept from other instances, unless {@link renewClaims} is called meanwhile; null where there are no others. */
  readonly claimMs: number | null
  renewClaims(model: string): Promise<void>
  /** Keeps vectors of items that are still public and as they were; gives how many it kept. Vectors of the model with other dimensions go. */
  saveEmbeddings(model: string, embeddings: readonly { item: UnembeddedItem; vector: Float32Array }[]): Promise<number>
  countEmbeddings(model: string): Promise<EmbeddingCounts>
  /** Forgets the vectors of every model, or of every one but `keep`; gives how many there were. */
  forgetEmbeddings(keep: string | null): Promise<number>
}
