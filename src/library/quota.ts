/** What is counted for an owner: items with those in the trash, versions, bytes of their texts and files, and words that search keeps for them. */
export const USAGE_PARTS = ['items', 'versions', 'bytes', 'words'] as const
export type UsagePart = (typeof USAGE_PARTS)[number]

/** What an owner, a person or a team, keeps. Words: those that no item of others had before. */
export type OwnerUsage = Readonly<Record<UsagePart, number>>

/** The most that an owner may keep; null for no limit. More words are not refused: search does not find items by them. */
export type OwnerQuota = Readonly<Record<UsagePart, number | null>>

/** The quota where nothing else is set. A year of heavy use stays below, and 100,000 words take some 45 MB of memory. */
export const DEFAULT_QUOTA: OwnerQuota = { items: 100_000, versions: 1_000_000, bytes: 2_000_000_000, words: 100_000 }

export const NO_QUOTA: OwnerQuota = { items: null, versions: null, bytes: null, words: null }

/** A count of a part as people read it. @example nameQuota('bytes', 2_000_000) // '2 MB' */
export function nameQuota(part: UsagePart, count: number): string {
  if (part !== 'bytes') return `${count} ${count === 1 ? part.slice(0, -1) : part}`
  return count < 1_000_000 ? `${Math.floor(count / 1000)} kB` : `${Math.floor(count / 1_000_000)} MB`
}
