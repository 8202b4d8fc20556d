import { type Audience, PUBLIC } from './item-table.ts'

/** Who searches, as far as it decides what is found. */
export interface Viewer {
  /** Whose items the viewer finds. */
  readonly audiences: readonly Audience[]
  /** Row numbers of the owners whose hidden items the viewer finds: their own, and those of their teams. */
  readonly seenOwners: ReadonlySet<number>
}

/** Somebody who finds public items alone. */
export const STRANGER: Viewer = { audiences: [PUBLIC], seenOwners: new Set() }
