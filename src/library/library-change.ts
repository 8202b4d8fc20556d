import type { ItemKind } from './items.ts'

/** What a write changed, told after it is durable. */
export interface LibraryChange {
  readonly kind: ItemKind
  readonly ownerId: string
  /** Whether the public saw it before or after. */
  readonly isPublic: boolean
  /** Whether something was deleted for good: nobody may keep a text of it any longer. */
  readonly isPurge?: true | undefined
}
