import type { Within } from '../people/actor.ts'
import { hasRight, requireRight, type TeamRole } from '../people/teams.ts'
import { makeBody, variablesOf } from '../prompts/body.ts'
import type { Hold } from '../service/transfer.ts'
import type { SkillFile } from '../skills/skill.ts'
import type { FullVersion, Item, ItemKind, ItemOf, Prompt, PromptEntry, PromptFields, SkillFields, Version } from './items.ts'
import type { RelatedItem } from './search.ts'
import type { DefaultVisibility, Visibility } from './visibility.ts'

/** How much the page of an item shows. */
export interface ItemPageSizes {
  readonly versions: number
  readonly related: number
}

/** An item and what its page shows with it. */
export interface ItemPage {
  readonly item: Item
  /** The newest that the actor sees. */
  readonly versions: readonly Version[]
  readonly related: readonly RelatedItem<Item>[]
  /** The item that it was copied from, when the actor finds that in lists. */
  readonly source: Item | null
  /** null for an anonymous actor. */
  readonly marks: ItemMarks | null
}

/** A place in a walk by the time items were made: the last entry a page gave. */
export interface WalkPosition {
  readonly createdAt: string
  readonly order: number
}

/** As many entries as there are, up to the limit that was asked for. */
export interface WalkPage {
  readonly limit: number
  readonly entries: readonly (PromptEntry & { readonly position: WalkPosition })[]
}

/** The author of a write, and the note of its version. */
export interface Editor {
  readonly userId: string
  /** The team that a new item belongs to. Default: the author */
  readonly ownerId?: string | undefined
  readonly note: string | null
  /** Nothing outside of it is changed: it counts as not found. */
  readonly within?: Within | undefined
  /** Whether the write makes a version where nothing changes, too. */
  readonly makesVersion?: true
  /** The version that is written again. */
  readonly restores?: number
  /** Id of the item that a new one is a copy of. */
  readonly copies?: string
}

/** Import data of an item besides its fields. Absent for items saved here. */
export interface ImportOrigin {
  readonly authorId: string
  readonly contributors: readonly string[]
  /** Used when free, so that an exported library keeps its addresses. */
  readonly id?: string | undefined
  readonly slug?: string | undefined
  readonly createdAt?: string | undefined
  readonly updatedAt?: string | undefined
  /** Applied to new items: an item unlisted there is unlisted here. */
  readonly held?: Hold | undefined
}

/** Fields to change, and a new slug; what is absent or undefined stays. */
type Change<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined } & { readonly slug?: string | undefined }

type PromptChange = Change<PromptFields>

/** `files` may be a function of the current files, which are read only then. */
type SkillChange = Change<Omit<SkillFields, 'files'>> & {
  readonly files?: readonly SkillFile[] | ((files: readonly SkillFile[]) => readonly SkillFile[]) | undefined
}

/** A change of an item of a kind. */
export type ChangeOf<Kind extends ItemKind> = { prompt: PromptChange; skill: SkillChange }[Kind]

/** A change of an item of any kind. */
export type ItemChange = PromptChange & SkillChange

/** Decides on the current state of an item. `role` is the editor's over the item's owner. */
export type Decide<T, Decision> = (current: T, role: TeamRole | null) => Decision

/** An item as an import finds it again: by owner, author and title. */
export interface ImportedTwin<T> {
  readonly item: T
  /** Whether it was edited here after the last import wrote it, or was never imported at all. */
  readonly isEditedHere: boolean
  /** Where the last import found it; absent: nobody knows. */
  readonly source?: string
}

export interface ExportedTwin<T> extends ImportedTwin<T> {
  readonly authorId: string
}

/** The facts that an import has about an item that may be here with the same id. */
export interface KnownItem {
  readonly ownerId: string
  readonly id: string
  readonly title: string
  /** The author's username. */
  readonly author: string
}

/** The state of an item for a signed-in reader. */
export interface ItemMarks {
  readonly id: string
  /** The name of the person or team that owns it. */
  readonly owner: string
  readonly isTeam: boolean
  /** The reader's over the item's owner. */
  readonly role: TeamRole | null
  readonly hasVoted: boolean
  readonly isFavourite: boolean
  /** Number of the newest version that the reader sees. */
  readonly version: number
  /** Number of the version that is served: lower than `version` where the check blocks that one, and the reader sees it. */
  readonly servedVersion: number
  readonly isFeatured: boolean
  /** Whether an administrator keeps it out of the lists. */
  readonly isHeld: boolean
}

/** An owner of items, as somebody with a role over them sees it. */
export interface OwnerForItems {
  readonly id: string
  readonly name: string
  readonly role: TeamRole
  readonly isTeam: boolean
  /** Of new items. */
  readonly defaultVisibility: DefaultVisibility
}

/**
 * Refuses a new item of an owner: who may not publish chooses between `private` and what the owner's new items are anyway.
 * @throws AppError `forbidden`
 */
export function requireMayAdd({ role, defaultVisibility }: OwnerForItems, kind: 'prompt' | 'skill', visibility: Visibility): void {
  requireRight(role, 'edit', `add a ${kind} to it`)
  if (visibilityFor({ role, defaultVisibility }, visibility) !== visibility) requireRight(role, 'publish', `choose this visibility`)
}

/** The visibility of an item that somebody with a role over its owner may choose: as wanted, or nobody else. */
export function visibilityFor(
  { role, defaultVisibility }: Pick<OwnerForItems, 'role' | 'defaultVisibility'>,
  wanted: Visibility,
): Visibility {
  return wanted === defaultVisibility || hasRight(role, 'publish') ? wanted : 'private'
}

/** An item with the texts and files of one of its versions; where it is filed and who sees it are as now. */
export function atVersion<Kind extends ItemKind>(
  item: ItemOf<Kind>,
  { title, description, type, body, files }: Pick<FullVersion, 'title' | 'description' | 'type' | 'body' | 'files'>,
): ItemOf<Kind> {
  const of: Item = item
  const texts = { title, description }
  const toPrompt = (of: Prompt): Prompt => {
    const said = body ?? makeBody({ content: '' })
    return { ...of, ...texts, ...said, type: type ?? of.type, variables: variablesOf(said) }
  }
  const made: Item =
    of.kind === 'prompt'
      ? toPrompt(of)
      : { ...of, ...texts, files: (files ?? []).map(({ filename, bytes }) => ({ filename, size: bytes.length })) }
  // Of the same kind as the item that it was made from.
  return made as ItemOf<Kind>
}
