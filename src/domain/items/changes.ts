import type { PromptBody } from '../prompts/body.ts'
import type { SkillFile } from '../skills/skill.ts'
import type { ItemKind } from './items.ts'
import type { ListAudience, Visibility } from './visibility.ts'

/** The audience of an item when an entry of the log was written. */
export type Audience = Visibility | 'deleted'

/** Folder of prompts without a category. */
const UNCATEGORISED = 'uncategorised'

/** Where an item stands in the Git remote: a prompt's file, or the folder of a skill's plugin. */
export function sharedPath(item: {
  readonly kind: ItemKind
  readonly slug: string
  /** Of a skill, when it has one. */
  readonly name: string | null
  readonly category: string | null
}): string {
  if (item.kind === 'skill') return `plugins/${item.name ?? item.slug}`
  return `prompts/${item.category ?? UNCATEGORISED}/${item.slug}.md`
}

/** The state of an item in the log. */
export interface SharedState {
  readonly seq: number
  readonly kind: ItemKind
  readonly version: number
  readonly audience: Audience
  readonly path: string
  readonly category: string | null
  /** Names of tags, as JSON. */
  readonly tags: string
}

/** An entry of the log that a caller may see: an item had this version at this path. */
export interface SharedChange {
  /** Orders the entries. */
  readonly seq: number
  readonly itemId: string
  readonly kind: ItemKind
  /** The same for entries that were written together. */
  readonly revision: number
  readonly version: number
  readonly path: string
  /** When it was written; ISO 8601. */
  readonly at: string
  /** How many files the version of a skill has: one that is purged from older versions is missing. */
  readonly files: number
  /** Whether the path is the item's alone, for ever: others yield to it. */
  readonly isKept: boolean
}

/** The contents of the version of an entry. */
export interface SharedVersion extends PromptBody {
  /** Of the entry. */
  readonly seq: number
  readonly title: string
  readonly description: string | null
  readonly type: string
  readonly category: string | null
  readonly tags: readonly string[]
  readonly note: string | null
  /** Of the item, by username. */
  readonly author: string
  /** Of the version, by username. */
  readonly writer: string
  /** Whether the log knows that a person made the change. Not who: that account may be deleted, and the history stays. */
  readonly isByPerson: boolean
  /** Of a skill, SKILL.md first. */
  readonly files: readonly SkillFile[]
}

/** The last change of an item, as the log says it. */
export interface LastChange extends Pick<SharedState, 'version' | 'audience' | 'category'> {
  /** Of the entry. */
  readonly seq: number
  /** Names; null when they are not known. */
  readonly tags: readonly string[] | null
  /** Id of whoever made it; null for the service and the command line. */
  readonly actorId: string | null
  /** When it was written; ISO 8601. */
  readonly at: string
  /** The state of the item before; null when that is not known. */
  readonly before: Omit<LastChange, 'before'> | null
}

/** A change, announced after it is durable. */
export interface LibraryChange {
  readonly kind: ItemKind
  readonly ownerId: string
  /** The readers who saw it in lists, before or after. */
  readonly audience: ListAudience
  /** Whether something was deleted for good: nobody may keep a text of it any longer. */
  readonly isPurge?: true | undefined
}

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
