/**
 * An encoder of texts, as the library uses it: texts near in meaning have vectors with a high cosine. It is built in, or a provider's model
 * behind a server.
 */
export interface Encoder {
  /** Names what makes the vectors. Those of different models are never compared. */
  readonly model: string
  /** Whether texts leave this process: then it gets public items alone. Such vectors also share a large part, which ranking subtracts. */
  readonly isProvider: boolean
  /** Most items of one call of `encodeItems`. */
  readonly batchSize: number
  /** Begins to load the weights, or asks whether the provider is there; otherwise the first text does. */
  start(): void
  /** `starting` until it is ready; `down` while a provider does not answer; `fallback` when there will be no vectors. */
  state(): 'starting' | 'ready' | 'down' | 'fallback'
  /** Why it is `down` or in `fallback`, as a sentence; null otherwise. */
  fault(): string | null
  /** null when there is no encoder now, or it does not answer soon. Never throws. */
  encodeQuery(text: string): Promise<EncodedQuery | null>
  /**
   * The vectors of the first items, of one at least: integers from -127 to 127, of the same dimensions for all items. Null for an item that it
   * has no vector of, and instead of all when it can encode nothing now. Queries overtake items.
   * @param signal ends it: what is given then does not matter
   */
  encodeItems(items: readonly ItemText[], signal: AbortSignal): Promise<readonly (Int8Array | null)[] | null>
  close(): Promise<void>
}

/** The name of the model whose vectors are meant. */
export type VectorModel = Pick<Encoder, 'model' | 'isProvider'>

/** A query's meaning. */
export interface EncodedQuery {
  /** Of unit length. */
  readonly vector: Float32Array
  /** Share of the query's words that the encoder's vocabulary holds whole, from 0 to 1. */
  readonly knownShare: number
}

/** The text that an item's vector is made of. The title leads every window of the text. */
export interface ItemText {
  readonly title: string
  readonly text: string
}

/** Vectors of short texts by the built-in encoder. They are remembered: the descriptions of a set are encoded once. */
export interface TextVectors extends Pick<Encoder, 'model' | 'encodeQuery'> {
  /**
   * The vectors of the texts, in their order; null for those that it has none of, and for those not done when `signal` is aborted.
   * As those of `encodeItems`.
   */
  encodeTexts(texts: readonly ItemText[], signal: AbortSignal): Promise<(Int8Array | null)[]>
}

/** Changes of items after one position, up to and including another. Each write moves its items to the end. */
export interface ChangeRange {
  readonly after: number
  readonly upTo: number
  /** Whether nothing was looked at before: all may be done already. Default: false */
  readonly isFirst?: boolean
}

/** An item as it was when its vector was found missing. `digest` is of `text`, `position` is that of its last change. */
export interface UnencodedItem {
  readonly id: string
  readonly version: number
  readonly position: number
  readonly digest: string
  readonly text: ItemText
}

/** How many items a model may encode, how many of them have its vector, and how many have none yet. */
export interface VectorCounts {
  readonly total: number
  readonly embedded: number
  readonly pending: number
}
