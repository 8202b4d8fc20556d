import type { PromptType } from './fields.ts'
import type { ItemKind, Prompt } from './items.ts'
import type { Visibility } from './visibility.ts'

/**
 * Narrows a list. Values of one field are alternatives, except `allTags`, which must all be there; fields combine.
 * Categories and tags are given by slug or name, authors by username, each in any case. Unknown values match nothing.
 */
export interface ItemFilter {
  readonly ids?: readonly string[] | undefined
  /** Ids or slugs of collections. One that the reader may not see matches nothing. */
  readonly collections?: readonly string[] | undefined
  readonly type?: string | undefined
  /** Each includes its children. */
  readonly categories?: readonly string[] | undefined
  /** One is enough. */
  readonly anyTags?: readonly string[] | undefined
  /** All must be there. */
  readonly allTags?: readonly string[] | undefined
  /** Id of the owner. */
  readonly ownerId?: string | undefined
  /** Id of an owner whose items are left out. */
  readonly notOwnerId?: string | undefined
  /** Usernames of authors. */
  readonly authors?: readonly string[] | undefined
  /** Items whose version at this label the reader may see. */
  readonly label?: string | undefined
}

type SortOrder = 'relevance' | 'newest' | 'oldest' | 'votes'

/** The words of a query, in order. */
export interface QueryWords {
  /** Runs of an unspaced script as their pairs of neighbours; one character alone stays. */
  readonly words: readonly string[]
  /** Whether the text ends in the last word: it may still be growing. */
  readonly isLastGrowing: boolean
}

export interface SearchRequest {
  /** null: nothing to match, list by `sort`. */
  readonly query: QueryWords | null
  /** The query as it was typed, which the encoder reads. */
  readonly text?: string | undefined
  readonly filter: ItemFilter
  readonly sort: SortOrder
  readonly limit: number
  readonly offset: number
  /** Whether the answer has {@link Facets}. Default: false */
  readonly wantsFacets?: boolean | undefined
}

/**
 * How many of the results have each value of a field. A field is counted without its own filter, with the query and all other filters: its
 * values show what each would find instead.
 */
export interface Facets {
  readonly types: readonly { readonly type: string; readonly count: number }[]
  /** Children are not counted in their parents. */
  readonly categories: readonly { readonly slug: string; readonly count: number }[]
  /** The {@link MAX_FACET_TAGS} most used, most used first. */
  readonly tags: readonly { readonly slug: string; readonly name: string; readonly count: number }[]
  /** How many results of a query are not {@link HitScore.isApproximate approximate}; null without one, and where there are too many to tell. */
  readonly exact: number | null
}

/** Tags in {@link Facets}. */
export const MAX_FACET_TAGS = 12

/** One page of what was found, or of a list. */
export interface SearchResult<T> {
  readonly items: readonly T[]
  /** Exact number of what matches, over all pages. */
  readonly total: number
}

/** How well an item fits a query. */
export interface HitScore {
  /** 0 to 1, falling as the order does. */
  readonly score: number
  /** Whether the item is only similar: it holds less than most of the query's words, by rarity. */
  readonly isApproximate: boolean
}

/** The result of a search by text. */
export interface TextSearchResult<T> extends SearchResult<T> {
  /** Corrections of words that are not in the library, by the word as tokenized. */
  readonly corrections: ReadonlyMap<string, string>
  /** How well each of `items` fits; none unless they are sorted by relevance to a query. */
  readonly scores: readonly HitScore[]
  /** Present when they were asked for. */
  readonly facets?: Facets | undefined
}

/** A public prompt near a text in meaning; `similarity` is a whole number, 0 to 100. */
interface SimilarPrompt {
  readonly prompt: Prompt
  readonly similarity: number
}

/** An item near another in meaning; `similarity` is their cosine, 0 to 1. */
export interface RelatedItem<T> {
  readonly item: T
  readonly similarity: number
  readonly isNearlySame: boolean
}

/** Finds public prompts of these types, nearest to `text` in meaning first. */
export type FindSimilar = (
  text: string,
  options: { types: readonly PromptType[]; limit: number; signal?: AbortSignal | undefined },
) => Promise<SimilarPrompt[]>

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
