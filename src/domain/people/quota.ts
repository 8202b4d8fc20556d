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
