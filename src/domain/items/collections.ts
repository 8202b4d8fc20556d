import type { TeamRole } from '../people/teams.ts'
import type { ItemKind } from './items.ts'
import type { Visibility } from './visibility.ts'

/** Collections of one person or team. */
export const MAX_COLLECTIONS = 1_000
/** Items of one collection. */
export const MAX_COLLECTION_ITEMS = 1_000
/** Items that one call adds or removes. */
export const MAX_COLLECTED_AT_ONCE = 100

/** A named, ordered set of items, as one reader sees it. Times are ISO 8601 in UTC. */
export interface Collection {
  readonly id: string
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly visibility: Visibility
  /** Username of the person or team. */
  readonly owner: string
  readonly isOfTeam: boolean
  /** The role of the reader over its owner; null for others. */
  readonly role: TeamRole | null
  /** How many of each kind the reader finds in it. */
  readonly counts: Readonly<Record<ItemKind, number>>
  readonly createdAt: string
  /** Raised by every change of it and of what is in it. For those who may edit it alone: it counts what they put in and others do not see. */
  readonly version: number
  readonly updatedAt: string
}

/** A collection as the page of an item names it. */
export type NamedCollection = Pick<Collection, 'id' | 'slug' | 'title' | 'visibility'>

/** Where an item is put: beside another one of the collection, or by its own place. */
export type CollectionPlace = { readonly before: string } | { readonly after: string } | { readonly to: (typeof COLLECTION_MOVES)[number] }

/** Moves of an item in the order that the reader sees. */
export const COLLECTION_MOVES = ['first', 'up', 'down', 'last'] as const

/** A title as searches for collections compare it. */
export function foldTitle(title: string): string {
  return title.normalize('NFKC').toLowerCase()
}

/** Which collections a list has. */
export interface CollectionQuery {
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
export interface CollectionChange {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: Visibility | undefined
  readonly slug?: string | undefined
}
