import type { Actor } from '../actor.ts'
import type { ItemKind, Prompt, Skill } from '../items.ts'
import type { OwnerQuota, OwnerUsage } from '../quota.ts'
import type { Visibility } from '../visibility.ts'
import type { Facets, QueryWords, SearchResult } from './search.ts'

/** Which of a person's own items are meant. All that is given must hold; the trash is left out. */
export interface OwnItemsFilter {
  readonly kind: ItemKind
  readonly visibility?: Visibility | null | undefined
  /** By slug, with the categories below it. */
  readonly category?: string | undefined
  /** By slug or name. */
  readonly tag?: string | undefined
  /** Words that must be found in the item; null: none. */
  readonly query?: QueryWords | null | undefined
}

/** Orders of a person's own items. `relevance` is as `updated` without a query. */
export const OWN_SORTS = ['relevance', 'updated', 'newest', 'title', 'votes'] as const

interface OwnItemsPage extends OwnItemsFilter {
  /** Default: `updated` */
  readonly sort?: (typeof OWN_SORTS)[number] | undefined
  readonly limit: number
  readonly offset: number
}

/** How many items have each value of a field, counted without the filter by that field. */
interface OwnItemsCounts extends Pick<Facets, 'categories' | 'tags'> {
  readonly visibilities: readonly { readonly visibility: Visibility; readonly count: number }[]
}

/** What a person owns, or a team that the actor is in, whatever its visibility. The caller has checked that. */
export interface OwnItemsStore {
  listOwned(actor: Actor, ownerId: string, page: OwnItemsPage): Promise<SearchResult<Prompt | Skill>>
  /** The ids of a page of such a list. */
  listOwnedIds(actor: Actor, ownerId: string, page: OwnItemsPage): Promise<readonly string[]>
  countOwned(actor: Actor, ownerId: string, filter: OwnItemsFilter): Promise<OwnItemsCounts>
  /** What an owner keeps, and the most that they may. */
  readUsage(ownerId: string): Promise<{ readonly used: OwnerUsage; readonly quota: OwnerQuota }>
  /** How many words of an item are not indexed, as its owner's quota is used up. */
  countLeftOut(itemId: string): Promise<number>
}
