import type { ItemKind } from './items.ts'
import type { Decide } from './ports/items.ts'
import type { Visibility } from './visibility.ts'

/**
 * A purge record: of an item (`first` and `last` null), or by `key` of a version or the content of a file. Without a key it only says that
 * versions are missing, and is not repeated.
 */
export interface Purge {
  readonly itemId: string
  readonly first: number | null
  readonly last: number | null
  readonly key: string | null
}

/** Purges. They leave only ids: no word, vector, file or cached text stays in the library. */
export interface PurgeStore {
  /** An item in the trash that this user may delete for good, by id or slug. */
  findDeleted(kind: ItemKind, ref: string, userId: string): Promise<{ readonly id: string; readonly title: string } | null>
  /** An item with all its versions, in the trash or not, when `decide` says so of it as it is now. False when there is none, or it does not. */
  purgeItem(
    kind: ItemKind,
    id: string,
    userId: string,
    decide: Decide<{ readonly visibility: Visibility; readonly deletedAt: string | null }, boolean>,
  ): Promise<boolean>
  /**
   * Versions of an item, from `first` to `last`; how many there were. Of the newest version, which stays, earlier tags, categories and
   * addresses go, each counted as a version. Null where the user may not change the history, or the item is in the trash.
   * @throws AppError `conflict` for the newest where it was not filed otherwise before
   */
  purgeVersions(
    kind: ItemKind,
    id: string,
    userId: string,
    range: { readonly first: number; readonly last: number },
  ): Promise<number | null>
  /**
   * A file of a skill in all versions but the newest, where its bytes are others than there; how many versions lost it. Null as above.
   * @throws AppError `invalid_input` for SKILL.md
   */
  purgeFile(id: string, userId: string, filename: string): Promise<number | null>
  /**
   * Repeats, in a restored backup, the purges made since, and keeps their records. A whole item is deleted (its id is in `items`) when its
   * newest version in the backup was purged; a copy with a newer version stays. `parts` counts versions, and versions that lost a file.
   */
  repeatPurges(purges: readonly Purge[]): Promise<{ readonly parts: number; readonly items: readonly string[] }>
  /** Finishes earlier deletions: words, space and the log. */
  finishDeletions(): Promise<void>
  /**
   * Deletes items that were in the trash before a time, and all but the newest `versionsKeep` versions of each item; null keeps them. A
   * backup brings back what was deleted only by age or number.
   */
  purgeExpired(
    limits: { readonly trashBefore: string | null; readonly versionsKeep: number | null },
    signal?: AbortSignal,
  ): Promise<{ readonly items: number; readonly versions: number }>
}
