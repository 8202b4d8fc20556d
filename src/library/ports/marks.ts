import type { Actor } from '../actor.ts'
import type { ItemKind, Prompt, Skill } from '../items.ts'
import type { TeamRole } from '../teams.ts'
import type { SearchResult } from './search.ts'

/** The state of an item for a signed-in reader. */
interface ItemMarks {
  readonly id: string
  /** The name of the person or team that owns it. */
  readonly owner: string
  readonly isTeam: boolean
  /** The reader's over the item's owner. */
  readonly role: TeamRole | null
  readonly hasVoted: boolean
  readonly isFavourite: boolean
  /** Number of the newest version. */
  readonly version: number
  readonly isFeatured: boolean
  /** Whether an administrator keeps it out of the lists. */
  readonly isHeld: boolean
  /** Until when the reader may take its publication back, ISO 8601; null when there is none to take back. */
  readonly publicationUntil: string | null
}

/** Votes, favourites, and what administrators decide about items. */
export interface MarkStore {
  /** Null for what the actor may not see. */
  findMarks(actor: Actor, kind: ItemKind, ref: string): Promise<ItemMarks | null>
  /**
   * Takes back that this person showed an item to more people, where that was its last change and at most ten minutes ago: it and its
   * newest version become what they were, with its random slug if it was never public before. Null when there is none.
   */
  takeBackPublication(kind: ItemKind, id: string, userId: string): Promise<{ slug: string } | null>
  /** Puts a public item on the first page, or takes it off. False when the public sees no such item. */
  setFeatured(kind: ItemKind, id: string, isFeatured: boolean): Promise<boolean>
  /** Takes a public item out of the lists, or lifts that, which makes it public again unless its owner chose another visibility meanwhile. False when there is nothing to do it to. */
  setHeld(kind: ItemKind, id: string, isHeld: boolean): Promise<boolean>
  /** Public items on the first page, the last one put there first. */
  listFeatured(limit: number): Promise<(Prompt | Skill)[]>
  /** What administrators keep out of the lists, the newest first. */
  listHeld(page: { limit: number; offset: number }): Promise<SearchResult<Prompt | Skill>>
  /** Records or withdraws a vote on an item the actor may see; the count is that of the votes there are. Null when it may not. */
  setVote(actor: Actor, kind: ItemKind, ref: string, userId: string, voted: boolean): Promise<{ id: string; votes: number } | null>
  /**
   * Marks an item the actor may see as a favourite of the user, or removes the mark, also from an item that the actor may no longer see.
   * Null when it neither may see the item nor removes a mark; `full` when the user has `most`.
   */
  setFavourite(
    actor: Actor,
    kind: ItemKind,
    ref: string,
    userId: string,
    isFavourite: boolean,
    most: number,
  ): Promise<{ id: string } | 'full' | null>
  /** The user's favourites, of one kind unless it is null, that the actor may list, the last marked first. */
  listFavourites(
    actor: Actor,
    userId: string,
    page: { kind: ItemKind | null; limit: number; offset: number },
  ): Promise<SearchResult<Prompt | Skill>>
  /** Which of these items are the user's favourites, by id, among those the actor may see. */
  findFavourites(actor: Actor, userId: string, ids: readonly string[]): Promise<ReadonlySet<string>>
}
