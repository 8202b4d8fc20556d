import type { ItemText, VectorModel } from './encoder.ts'

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

/**
 * The vectors of items, by model: for a provider of public items, otherwise of all outside the trash. A write that changes an item's text,
 * moves it to the trash, or hides it from a provider, deletes its vectors in the same transaction. So the items without a vector are all the
 * work there is.
 */
export interface ItemVectorStore {
  /** The position of the last change; cheap. */
  readLastChange(): Promise<number>
  /**
   * Items in the range without a vector of this model, last changed first. `upTo` is where the next call continues: the range is done when it
   * is `after`. `skipsClaimed`: others are claimed by another instance, and left out.
   */
  listUnencoded(
    model: VectorModel,
    range: ChangeRange,
    limit: number,
  ): Promise<{ readonly items: readonly UnencodedItem[]; readonly upTo: number; readonly skipsClaimed: boolean }>
  /** How long claims last without {@link renewClaims}, in milliseconds; null for a single instance. */
  readonly claimMs: number | null
  renewClaims(model: string): Promise<void>
  /**
   * Saves vectors for items that are still unchanged, and public if a provider made them; returns how many. Each call empties the caches of
   * answers, so callers save several at once. Vectors of the model with other dimensions than the last of these are not kept.
   */
  saveVectors(model: VectorModel, vectors: readonly { item: UnencodedItem; vector: Int8Array }[]): Promise<number>
  /** For operators alone, as it may count private items. */
  countVectors(model: VectorModel): Promise<VectorCounts>
  /** The vectors of items, by id, that there are. The caller has seen the items under the visibility rule. */
  readVectors(model: string, ids: readonly string[]): Promise<ReadonlyMap<string, Int8Array>>
  /** Deletes the vectors of every model but one, or of all (null); returns how many there were. */
  forgetOtherVectors(model: string | null): Promise<number>
}
