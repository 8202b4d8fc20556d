import type { Prompt, Skill } from '../library/items.ts'
import type { LibraryReader, TextSearchResult, WalkPage } from '../library/ports.ts'
import type { PublicReads } from '../library/public-reads.ts'
import type { SearchIndex } from '../search/index/search-index.ts'

/** How much is kept of what is public, in UTF-16 units of text; the texts that are made of it come on top, two to three times as much. */
const MAX_KEPT_TEXT = 4 * 1024 * 1024
/** What an item weighs beside its text. */
const ITEM_WEIGHT = 300
/** What another name of an item that is kept already weighs. */
export const NAME_WEIGHT = 100
/** Entries of prompts/list, and answers to searches and counts, of which only row numbers are kept. */
const MAX_KEPT_ENTRIES = 5_000
const MAX_KEPT_ANSWERS = 2_000
/** Longest key that is kept, in UTF-16 units: whoever asks for long things chooses how long. */
export const MAX_KEPT_KEY = 1_000

/** Places for all that is kept of public reads. */
export function keepPublicReads(reads: PublicReads) {
  return {
    refresh: reads.refresh,
    prompts: reads.keep<Prompt>(MAX_KEPT_TEXT),
    skills: reads.keep<Skill>(MAX_KEPT_TEXT / 4),
    searches: reads.keep<Omit<TextSearchResult<never>, 'items'> & { readonly seqs: readonly number[] }>(MAX_KEPT_ANSWERS),
    counts: reads.keep<number>(MAX_KEPT_ANSWERS),
    walks: reads.keep<WalkPage>(MAX_KEPT_ENTRIES),
    manifests: reads.keep<Awaited<ReturnType<LibraryReader['walkSkills']>>>(MAX_KEPT_ENTRIES),
    versions: reads.keep<Awaited<ReturnType<LibraryReader['listVersions']>>>(MAX_KEPT_ANSWERS),
    categories: reads.keep<Awaited<ReturnType<LibraryReader['listCategories']>>>(1),
    tags: reads.keep<ReturnType<SearchIndex['countTags']>>(1),
  }
}

/** The key of a read by what it asks for. */
export function keyOf(...asked: readonly unknown[]): string {
  return JSON.stringify(asked)
}

/** What an item weighs among those that are kept. */
export const weighPrompt = (prompt: Prompt) => ITEM_WEIGHT + prompt.content.length
/** What an item weighs among those that are kept. */
export const weighSkill = (skill: Skill) => ITEM_WEIGHT + skill.filenames.reduce((sum, name) => sum + name.length, 0)

/** Places for what is kept of public reads. */
export type KeptReads = ReturnType<typeof keepPublicReads>
