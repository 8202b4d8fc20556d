import type { Actor } from '../actor.ts'
import type { Collection, CollectionPlace, NamedCollection } from '../collections.ts'
import type { ItemKind, Prompt, Skill } from '../items.ts'
import type { Visibility } from '../visibility.ts'
import type { SearchResult } from './search.ts'

/** Which collections a list has. */
interface CollectionQuery {
  /** Words that all stand in the title. */
  readonly q: string
  /** Username of the owner. */
  readonly owner?: string | undefined
  /** Id or slug of an item that the reader finds in them. */
  readonly item?: string | undefined
  /** Only those whose items the reader may change. */
  readonly isEditable: boolean
  readonly limit: number
  readonly offset: number
}

/** Fields to change; what is absent or undefined stays. */
interface CollectionChange {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: Visibility | undefined
  readonly slug?: string | undefined
}

/**
 * Collections. Reads apply the visibility rule to the collection, and to each item in it as in a list. `ref` is an id or a slug. Each write is
 * one transaction that reads the caller's role in it; null is of a collection that the caller may not see.
 * @throws AppError `forbidden` for a role that may not, `not_found` for an item that the caller may not see, `conflict` for a version that is
 * not the newest and beyond the limits of `library/collections.ts`
 */
export interface CollectionStore {
  /** Those of the reader and their teams first, then the newest. */
  listCollections(actor: Actor, query: CollectionQuery): Promise<SearchResult<Collection>>
  /**
   * Those that an item is in, those of the reader and their teams first, then by title. `among` null: every one that lists show, for an item
   * that lists show; ids: these of the reader's own alone, for every item that the reader may see.
   */
  listHolding(
    actor: Actor,
    itemId: string,
    query: { readonly among: readonly string[] | null; readonly limit: number },
  ): Promise<readonly NamedCollection[]>
  /** Those of the reader and their teams, by title. */
  listOwnNames(actor: Actor, limit: number): Promise<readonly NamedCollection[]>
  findCollection(actor: Actor, ref: string): Promise<Collection | null>
  /** Those of these ids and slugs that the reader may see, by these. */
  nameCollections(actor: Actor, refs: readonly string[]): Promise<ReadonlyMap<string, NamedCollection>>
  /** What is in a collection, in its order; null for one that the reader may not see. `kind` null: both. */
  listCollected(
    actor: Actor,
    ref: string,
    page: { readonly kind: ItemKind | null; readonly limit: number; readonly offset: number },
  ): Promise<SearchResult<Prompt | Skill> | null>
  /** `ownerId` is of the user or of a team. */
  createCollection(
    actor: Actor,
    fields: {
      readonly ownerId: string
      readonly title: string
      readonly description: string | null
      readonly visibility: Visibility
    },
  ): Promise<Collection>
  changeCollection(actor: Actor, ref: string, change: CollectionChange, baseVersion: number | undefined): Promise<Collection | null>
  deleteCollection(actor: Actor, ref: string): Promise<{ readonly id: string; readonly title: string } | null>
  /** What is in it already stays where it is. `position` counts from 1 in what the caller sees; null: the end. */
  addToCollection(
    actor: Actor,
    ref: string,
    items: readonly string[],
    position: number | null,
  ): Promise<{ readonly collection: Collection; readonly added: number } | null>
  /** What is not in it is passed over. */
  removeFromCollection(
    actor: Actor,
    ref: string,
    items: readonly string[],
  ): Promise<{ readonly collection: Collection; readonly removed: number } | null>
  moveInCollection(
    actor: Actor,
    ref: string,
    item: string,
    place: CollectionPlace,
    baseVersion: number | undefined,
  ): Promise<Collection | null>
}
