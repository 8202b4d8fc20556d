/** The encoder of sentences, as the library uses it: texts near in meaning have vectors with a high cosine. */
export interface Encoder {
  /** Names weights and pooling. Vectors of different models are never compared. */
  readonly model: string
  /** Begins to load the weights; otherwise the first text does. */
  start(): void
  /** `starting` until the weights are loaded; `fallback` when they cannot be: then every vector is null. */
  state(): 'starting' | 'ready' | 'fallback'
  /** null when there is no encoder now, or it is too busy to answer soon. Never throws. */
  encodeQuery(text: string): Promise<EncodedQuery | null>
  /** An item's vector: 384 integers from -127 to 127; null when there is no encoder now. Queries overtake items. */
  encodeItem(item: ItemText): Promise<Int8Array | null>
  close(): Promise<void>
}

/** A query's meaning. */
export interface EncodedQuery {
  /** 384 numbers, of unit length. */
  readonly vector: Float32Array
  /** Share of the query's words that the encoder's vocabulary holds whole, from 0 to 1. */
  readonly knownShare: number
}

/** What an item's vector is made of. The title leads every window of the text. */
export interface ItemText {
  readonly title: string
  readonly text: string
}
