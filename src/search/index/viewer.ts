import { type Audience, PUBLIC } from './item-table.ts'

/** A set of row numbers, as far as searches ask it. */
export type RowNumbers = Pick<ReadonlySet<number>, 'has' | 'size'>

/** Items that a viewer is narrowed to; `openItems` as far as they are of one of the viewer's audiences. */
interface ItemsWithin {
  readonly items: RowNumbers
  readonly openItems?: RowNumbers | undefined
}

/** The searching reader, as far as it decides what is found. */
export interface Viewer {
  /** The owners whose hidden items the viewer finds. */
  readonly audiences: readonly Audience[]
  /** Row numbers of the owners whose hidden items the viewer finds: their own, and those of their teams. */
  readonly seenOwners: ReadonlySet<number>
  /**
   * Of a narrowed key: all that the viewer finds is of this owner, or one of these items. Then words are corrected and completed by what is
   * found alone, and ranked by the statistics of public items.
   */
  readonly within?: { readonly owner: number } | ItemsWithin | undefined
}

/** Somebody who finds public items alone. */
export const STRANGER: Viewer = { audiences: [PUBLIC], seenOwners: new Set() }
