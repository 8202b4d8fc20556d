import type { UseCount, UseKind, UseSurface } from '../usage.ts'

/** How often something was used on a day. */
export interface DayUses {
  /** Such as 2026-01-31, in UTC. */
  readonly day: string
  readonly kind: UseKind
  readonly surface: UseSurface
  readonly count: number
}

/** Counts of uses by day. Writing them raises no revision. Days are given as 2026-01-31. */
export interface UsageStore {
  /** Adds to what is there, so that instances add up. All or nothing. */
  addUses(day: string, counts: readonly UseCount[]): Promise<void>
  /** Totals of the library. */
  listUses(since: string): Promise<DayUses[]>
  listItemUses(itemId: string, since: string): Promise<DayUses[]>
  listKeyUses(keyIds: readonly string[], since: string): Promise<(DayUses & { readonly keyId: string })[]>
  /** New items by day; those in the trash count too. */
  countNewItems(since: string): Promise<{ readonly day: string; readonly count: number }[]>
  /** Removes old counts; gives how many rows. */
  removeUses(before: { readonly details: string; readonly totals: string }): Promise<number>
}
