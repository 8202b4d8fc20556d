import type { ItemKind } from './items.ts'
import type { Visibility } from './visibility.ts'

/**
 * A record of what was deleted for good: an item (`first` and `last` null), or by `key` a version of it, or what a file held. Without a key it
 * says only that versions are missing, and is not repeated.
 */
export interface Purge {
  readonly itemId: string
  readonly first: number | null
  readonly last: number | null
  readonly key: string | null
}

/** Deleting for good. What goes leaves its ids alone: no word, vector, file or cached text of it stays in the library. */
export interface PurgeStore {
  /** An item in this owner's trash, by id or slug. */
  findDeleted(kind: ItemKind, ref: string, ownerId: string): Promise<{ readonly id: string; readonly title: string } | null>
  /** An item with all its versions, in the trash or not, when `decide` says so of it as it is now. False when there is none, or it does not. */
  purgeItem(
    kind: ItemKind,
    id: string,
    decide: (item: { readonly ownerId: string; readonly visibility: Visibility; readonly deletedAt: string | null }) => boolean,
  ): Promise<boolean>
  /**
   * Versions of an item of this owner, from `first` to `last`; how many there were. Null when the owner has no such item outside the trash.
   * @throws AppError `conflict` for the newest
   */
  purgeVersions(
    kind: ItemKind,
    id: string,
    ownerId: string,
    range: { readonly first: number; readonly last: number },
  ): Promise<number | null>
  /**
   * A file of a skill in all versions but the newest, where its bytes are others than there; how many versions lost it. Null as above.
   * @throws AppError `invalid_input` for SKILL.md
   */
  purgeFile(id: string, ownerId: string, filename: string): Promise<number | null>
  /**
   * Deletes again, in a restored backup, what people deleted for good since, and keeps the records of that. An item goes as a whole (`items` has its
   * id) when the newest version it has there is among what was deleted; a copy with a newer one brings it back. `parts` counts versions, and versions
   * that lost a file.
   */
  repeatPurges(purges: readonly Purge[]): Promise<{ readonly parts: number; readonly items: readonly string[] }>
  /** Takes up what an earlier deletion could not finish: words, room and the log. */
  finishDeletions(): Promise<void>
  /**
   * What was put into the trash before a time, and all but the newest `versionsKeep` versions of each item; null keeps them. What went only by age and
   * number comes back with a backup.
   */
  purgeExpired(
    limits: { readonly trashBefore: string | null; readonly versionsKeep: number | null },
    signal?: AbortSignal,
  ): Promise<{ readonly items: number; readonly versions: number }>
}
