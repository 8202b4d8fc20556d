import type { ItemKind } from '../items/items.ts'
import type { ListAudience } from '../items/visibility.ts'

/** A change, announced after it is durable. */
export interface LibraryChange {
  readonly kind: ItemKind
  readonly ownerId: string
  /** The readers who saw it in lists, before or after. */
  readonly audience: ListAudience
  /** Whether something was deleted for good: nobody may keep a text of it any longer. */
  readonly isPurge?: true | undefined
}
