import type { ItemKind } from './items.ts'
import type { Facets, QueryWords } from './search.ts'
import type { Visibility } from './visibility.ts'

/** Which of a person's own items are meant. All that is given must hold; the trash is left out. */
export interface OwnItemsFilter {
  readonly kind: ItemKind
  readonly visibility?: Visibility | null | undefined
  /** By slug, with the categories below it. */
  readonly category?: string | undefined
  /** By slug or name. */
  readonly tag?: string | undefined
  /** By the name of one. */
  readonly label?: string | undefined
  /** Words that must be found in the item; null: none. */
  readonly query?: QueryWords | null | undefined
}

/** Orders of a person's own items. `relevance` is as `updated` without a query. */
export const OWN_SORTS = ['relevance', 'updated', 'newest', 'title', 'votes'] as const

export interface OwnItemsPage extends OwnItemsFilter {
  /** Default: `updated` */
  readonly sort?: (typeof OWN_SORTS)[number] | undefined
  readonly limit: number
  readonly offset: number
}

/** How many items have each value of a field, counted without the filter by that field. */
export interface OwnItemsCounts extends Pick<Facets, 'categories' | 'tags'> {
  readonly labels: readonly { readonly name: string; readonly count: number }[]
  readonly visibilities: readonly { readonly visibility: Visibility; readonly count: number }[]
}
