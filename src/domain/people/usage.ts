import type { Item } from '../items/items.ts'

/**
 * The kinds of uses. `view`: an item shown on a page or in an embed; `copy`: its text taken from a page; `read`: an item read by a program;
 * `call`: any operation called by a program; `empty_search`: a search that found nothing; `error`: a fault of the service.
 */
export type UseKind = 'view' | 'copy' | 'read' | 'call' | 'search' | 'empty_search' | 'sign_in' | 'error'

/** Where it was used; `service`: the process by itself. */
export type UseSurface = 'web' | 'rest' | 'mcp' | 'embed' | 'service'

/** Days that counts of single items and keys are kept, and totals of days. */
export const DETAIL_DAYS = 90
export const TOTAL_DAYS = 400

/** The used item, key or surface: a text or an address is never part of it. */
export interface Use {
  readonly kind: UseKind
  readonly surface: UseSurface
  readonly itemId: string | null
  readonly version: number | null
  readonly keyId: string | null
}
/** How often. */
export interface UseCount extends Use {
  readonly count: number
}

/** An item that is used, as far as it is known. */
type UsedItem = Pick<Item, 'id'> & Partial<Pick<Item, 'version' | 'ownerId'>>

/** Counts a use for the caller of an operation. */
export type CountUse = (what: 'read' | 'copy' | 'call' | 'search' | 'empty_search' | 'sign_in', item?: UsedItem) => void

/** A use that an operation counted. */
export type UseNote = Parameters<CountUse>

/** Counts nothing. */
export const countNothing: CountUse = () => {}

/** How uses of an entry point are counted. `reads`: as what items that are read count. */
export interface UseEntry {
  readonly surface: UseSurface
  readonly reads: 'view' | 'read' | 'copy'
  /** Whether its callers are programs, whose calls are counted one by one. */
  readonly hasCalls: boolean
}

/** Different uses counted at once. */
const MAX_DIFFERENT = 20_000

/** Counts in memory, until they are taken. */
export interface UseCounter {
  add(use: Use, count?: number): void
  /** Everything counted since the last time. */
  take(): UseCount[]
}

/** @param maxDifferent further items and keys are counted in the totals alone */
export function createUseCounter(maxDifferent: number = MAX_DIFFERENT): UseCounter {
  let counts = new Map<string, Use & { count: number }>()
  const add = (use: Use, count = 1): void => {
    const name = `${use.kind} ${use.surface} ${use.itemId} ${use.version} ${use.keyId}`
    const known = counts.get(name)
    if (known) known.count += count
    else if (counts.size < maxDifferent || (use.itemId === null && use.keyId === null)) counts.set(name, { ...use, count })
    else add({ ...use, itemId: null, version: null, keyId: null }, count)
  }
  return {
    add,
    take() {
      const taken = [...counts.values()]
      counts = new Map()
      return taken
    },
  }
}

/** Counts the uses of one caller. Views by the owner of an item are left out: who edits looks at it again and again. */
export function countFor(
  counter: UseCounter,
  { surface, reads, hasCalls }: UseEntry,
  { userId, keyId }: { readonly userId: string | null; readonly keyId: string | null },
): CountUse {
  return (what, item) => {
    if (what === 'call' && !hasCalls) return
    const kind = what === 'read' ? reads : what
    if (kind === 'view' && userId !== null && item?.ownerId === userId) return
    counter.add({ kind, surface, itemId: item?.id ?? null, version: item?.version ?? null, keyId })
  }
}

/**
 * Counts as they are kept: totals, what items were used, and what keys did, each apart. Nothing that is kept says which key used which item.
 */
export function splitCounts(counts: readonly UseCount[]): UseCount[] {
  const rows = createUseCounter(Number.POSITIVE_INFINITY)
  for (const { kind, surface, itemId, version, keyId, count } of counts) {
    rows.add({ kind, surface, itemId: null, version: null, keyId: null }, count)
    if (itemId !== null) rows.add({ kind, surface, itemId, version, keyId: null }, count)
    if (keyId !== null) rows.add({ kind, surface, itemId: null, version: null, keyId }, count)
  }
  return rows.take()
}

/**
 * Collects what the operations behind one page count, so that a page counts as one use: each item once, and its searches as one, which found
 * nothing when none of them did.
 */
export function collectUses(): { readonly count: CountUse; notes(): UseNote[] } {
  const noted = new Map<string, UseNote>()
  let searches = 0
  let empty = 0
  return {
    count(what, item) {
      if (what === 'search') searches++
      else if (what === 'empty_search') empty++
      else noted.set(`${what} ${item?.id}`, item ? [what, item] : [what])
    },
    notes() {
      const notes = [...noted.values()]
      if (searches > 0) notes.push(['search'])
      if (searches > 0 && empty === searches) notes.push(['empty_search'])
      return notes
    },
  }
}

const DAY_MS = 86_400_000

/** A day in UTC, such as 2026-01-31. */
export function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The last days up to now, the oldest first. */
export function lastDays(nowMs: number, days: number): string[] {
  return Array.from({ length: days }, (_, index) => toDay(nowMs - (days - 1 - index) * DAY_MS))
}

/** How often something was used on a day. */
export interface DayUses {
  /** Such as 2026-01-31, in UTC. */
  readonly day: string
  readonly kind: UseKind
  readonly surface: UseSurface
  readonly count: number
}

/** The counts of an owner: items (the trash included), versions, bytes of texts and files, and words that were new when they were saved. */
export const USAGE_PARTS = ['items', 'versions', 'bytes', 'words'] as const
export type UsagePart = (typeof USAGE_PARTS)[number]

/** The usage of a person or a team. */
export type OwnerUsage = Readonly<Record<UsagePart, number>>

/** The most that an owner may keep; null for no limit. Words beyond it are saved, but search does not find the item by them. */
export type OwnerQuota = Readonly<Record<UsagePart, number | null>>

/** The quota where nothing else is set. */
export const DEFAULT_QUOTA: OwnerQuota = { items: 100_000, versions: 1_000_000, bytes: 2_000_000_000, words: 100_000 }

export const NO_QUOTA: OwnerQuota = { items: null, versions: null, bytes: null, words: null }

/** A count of a part as people read it. @example nameQuota('bytes', 2_000_000) // '2 MB' */
export function nameQuota(part: UsagePart, count: number): string {
  if (part !== 'bytes') return `${count} ${count === 1 ? part.slice(0, -1) : part}`
  return count < 1_000_000 ? `${Math.floor(count / 1000)} kB` : `${Math.floor(count / 1_000_000)} MB`
}
