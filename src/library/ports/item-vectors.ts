import type { EmbeddingCounts } from './embeddings.ts'
import type { ItemText } from './encoder.ts'

/** Numbers in an item's vector, a byte each. */
export const ITEM_VECTOR_LENGTH = 384

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

/**
 * The encoder's vectors of all items outside the trash, whatever their visibility: they stay in the library. A write that changes an item's
 * text, or moves it to the trash, deletes its vectors in the same transaction. So the items without a vector are all the work there is.
 */
export interface ItemVectorStore {
  /** The position of the last change; cheap. */
  readLastChange(): Promise<number>
  /**
   * Items in the range without a vector of this model, last changed first. `upTo` is where the next call continues: the range is done when it
   * is `after`. `skipsClaimed`: others are claimed by another instance, and left out.
   */
  listUnencoded(
    model: string,
    range: ChangeRange,
    limit: number,
  ): Promise<{ readonly items: readonly UnencodedItem[]; readonly upTo: number; readonly skipsClaimed: boolean }>
  /** How long claims last without {@link renewClaims}, in milliseconds; null for a single instance. */
  readonly claimMs: number | null
  renewClaims(model: string): Promise<void>
  /**
   * Saves vectors of {@link ITEM_VECTOR_LENGTH} numbers for items that are still unchanged; returns how many. Each call empties the caches
   * of answers, so callers save several at once.
   * @throws AppError `internal` for a vector of another length
   */
  saveVectors(model: string, vectors: readonly { item: UnencodedItem; vector: Int8Array }[]): Promise<number>
  /** Counts private items too: for operators alone. */
  countVectors(model: string): Promise<EmbeddingCounts>
  /** Deletes the vectors of every other model; returns how many there were. */
  forgetOtherVectors(model: string): Promise<number>
}
