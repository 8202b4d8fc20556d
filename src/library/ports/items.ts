import type { Actor, Within } from '../actor.ts'
import type {
  FullVersion,
  Item,
  ItemKind,
  Prompt,
  PromptEntry,
  PromptFields,
  SharedSkill,
  Skill,
  SkillFields,
  SkillManifest,
  Version,
} from '../items.ts'
import type { OwnerForItems } from '../owners.ts'
import type { LastChange, SharedChange, SharedVersion } from '../shared-changes.ts'
import type { SkillFile } from '../skill.ts'
import type { TeamRole } from '../teams.ts'
import type { FindSimilar, ItemFilter, RelatedItem, SearchRequest, SearchResult, TextSearchResult } from './search.ts'
import type { Hold } from './transfer.ts'

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

export type PromptChange = Change<PromptFields>

/** `files` may be a function of the current files, which are read only then. */
export type SkillChange = Change<Omit<SkillFields, 'files'>> & {
  readonly files?: readonly SkillFile[] | ((files: readonly SkillFile[]) => readonly SkillFile[]) | undefined
}

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

/** What an import knows of an item that may be here with the same id. */
export interface KnownItem {
  readonly ownerId: string
  readonly id: string
  readonly title: string
  /** The author's username. */
  readonly author: string
}

/** Reads items. Reads that can meet private data take the actor and go through the visibility rule. `ref` is an id or a slug. */
export interface ItemReader {
  /** The role of a user over what an owner has: maintainer of their own things, or the role in the team; null for none. */
  findRole(userId: string, ownerId: string): Promise<TeamRole | null>
  /** The ids of all members of the teams among these owners. */
  listMemberIds(ownerIds: readonly string[]): Promise<string[]>
  /** Whom new items can belong to: the user, or a team that the user is in, by id, name or former name. */
  findOwner(userId: string, asked: { readonly id: string } | { readonly name: string }): Promise<OwnerForItems | null>
  findPrompt(actor: Actor, ref: string): Promise<Prompt | null>
  findSkill(actor: Actor, ref: string): Promise<Skill | null>
  searchPrompts(actor: Actor, request: SearchRequest): Promise<TextSearchResult<Prompt>>
  searchSkills(actor: Actor, request: SearchRequest): Promise<TextSearchResult<Skill>>
  /** Languages of the texts that others share with the actor, by ISO 639-1 code, most texts first; `share` is about the share of texts. */
  findLanguages(actor: Actor): Promise<readonly { readonly code: string; readonly share: number }[]>
  /** What an item that the actor sees was copied from, when the actor finds that in lists. */
  findSource(actor: Actor, kind: ItemKind, ref: string): Promise<(Item & { kind: ItemKind }) | null>
  findSimilarPrompts: FindSimilar
  /** Prompts the actor finds in lists, nearest in meaning to one that it sees; none when it sees no such prompt. */
  findRelatedPrompts(actor: Actor, id: string, limit: number): Promise<RelatedItem<Prompt>[]>
  findRelatedSkills(actor: Actor, id: string, limit: number): Promise<RelatedItem<Skill>[]>
  /** The item that one of the actor's own nearly repeats, among those the actor finds; null when there is none or search is not ready. */
  findNearDuplicate(actor: Actor, kind: ItemKind, id: string): Promise<Item | null>
  /** Newest first, after `after`; stable while items are added. Texts are not read. */
  walkPrompts(actor: Actor, filter: ItemFilter, after: WalkPosition | null, limit: number): Promise<WalkPage>
  /** Whole prompts by the time they were made, after `after`; stable while items are added. `next` is null at the end. */
  walkWholePrompts(
    actor: Actor,
    filter: ItemFilter,
    order: 'newest' | 'oldest',
    after: WalkPosition | null,
    limit: number,
  ): Promise<{ readonly prompts: readonly Prompt[]; readonly next: WalkPosition | null }>
  countPrompts(actor: Actor, filter: ItemFilter): Promise<number>
  /** All files of a skill the actor may see (checked again here), SKILL.md first; empty when it may not. */
  readSkillFiles(actor: Actor, skillId: string, filenames?: readonly string[]): Promise<SkillFile[]>
  readSkillFile(actor: Actor, skillId: string, filename: string): Promise<SkillFile | null>
  /** Skills that have a proper name, newest first, after `after`. */
  walkSkills(
    actor: Actor,
    filter: ItemFilter | null,
    after: WalkPosition | null,
    limit: number,
  ): Promise<(SkillManifest & { readonly id: string; readonly position: WalkPosition })[]>
  /** The skill that stands at `path` below an owner (in any case), when the actor may see it by its address. */
  findSkillAt(
    actor: Actor,
    owner: string,
    path: string,
    filter?: ItemFilter | null,
  ): Promise<(SkillManifest & { readonly id: string }) | null>
  /**
   * Skills that the actor may see, oldest first, after a position (0 is the beginning), for channels. `reach` is `id` for one that its
   * address names. Their frontmatter is read, their files are not.
   */
  walkSharedSkills(
    actor: Actor,
    reach: 'list' | 'id',
    filter: ItemFilter,
    after: number,
    limit: number,
  ): Promise<{ readonly skills: readonly SharedSkill[]; readonly next: number | null }>
  /**
   * Entries of the log of visible changes of items that the actor may see within a scope, by items in their order after a position (0 is
   * the beginning); of an item that was withdrawn and came back, those since its return. `reach` as above.
   */
  walkSharedChanges(
    actor: Actor,
    reach: 'list' | 'id',
    kind: ItemKind,
    filter: ItemFilter,
    after: number,
    limit: number,
  ): Promise<{ readonly changes: readonly SharedChange[]; readonly next: number | null }>
  /** The versions of entries by their numbers; those the actor may not see are left out. */
  readSharedVersions(actor: Actor, changeSeqs: readonly number[]): Promise<readonly SharedVersion[]>
  /** The last change of an item, without a look at who asks. What the open transaction changed is not known yet. */
  findLastChange(itemId: string): Promise<LastChange | null>
  /** Versions of an item the actor sees, newest first, with numbers below `before`: all for the owner and members of a team that is it, those written while public for others. */
  listVersions(actor: Actor, itemId: string, page: { before: number | null; limit: number }): Promise<Version[]>
  findVersion(actor: Actor, itemId: string, version: number): Promise<FullVersion | null>
  /** Deleted items that the user may restore: their own, and those of teams. */
  listTrash(
    userId: string,
    page: { limit: number; offset: number },
  ): Promise<SearchResult<{ id: string; kind: ItemKind; title: string; deletedAt: string }>>
}

/**
 * Writes items. Each call is one transaction, durable when its promise resolves. It writes a version when the content of a version changes,
 * and nothing when nothing changes. `decide` runs inside the transaction on the current state; what it throws undoes everything and reaches
 * the caller.
 */
export interface ItemWriter {
  createPrompt(owner: Editor, fields: PromptFields, origin?: ImportOrigin): Promise<Prompt>
  createSkill(owner: Editor, fields: SkillFields, origin?: ImportOrigin): Promise<Skill>
  /** Finds by id, or by slug among all items; null when there is none or it is in the trash. `decide` checks the caller's rights. Null from `decide`: no change. */
  changePrompt(ref: string, editor: Editor, decide: Decide<Prompt, PromptChange | null>, origin?: ImportOrigin): Promise<Prompt | null>
  changeSkill(ref: string, editor: Editor, decide: Decide<Skill, SkillChange | null>, origin?: ImportOrigin): Promise<Skill | null>
  /** Moves to the trash (`deleted` true) or back; null when there is none in the other state over which the user has the right to it. */
  setDeleted(kind: ItemKind, ref: string, userId: string, deleted: boolean): Promise<{ id: string; slug: string; title: string } | null>
  /** What imports find again: the one from `source`, and the oldest, 200 in all, the trash included. */
  findImported(kind: 'prompt', ownerId: string, authorId: string, title: string, source?: string): Promise<ImportedTwin<Prompt>[]>
  findImported(kind: 'skill', ownerId: string, authorId: string, title: string, source?: string): Promise<ImportedTwin<Skill>[]>
  /** Notes where an import found an item. */
  keepImportSource(id: string, source: string): Promise<void>
  /** The number of an owner's items that imports found below a folder. */
  countImportedBelow(ownerId: string, folder: string): Promise<number>
  /** The item that an export of this library named, the trash included: same id, owner, title and author. */
  findExported(kind: 'prompt', known: KnownItem): Promise<ExportedTwin<Prompt> | null>
  findExported(kind: 'skill', known: KnownItem): Promise<ExportedTwin<Skill> | null>
}
