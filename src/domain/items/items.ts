import type { CheckNote } from '../check/findings.ts'
import type { BodyFields, PromptBody } from '../prompts/body.ts'
import type { NamedFrontmatter, SkillDescription } from '../skills/frontmatter.ts'
import type { SkillFile } from '../skills/skill.ts'
import type { Variable } from '../variables/variables.ts'
import type { PromptType } from './fields.ts'
import type { Label } from './labels.ts'
import type { DefaultVisibility, Visibility } from './visibility.ts'

export type ItemKind = 'prompt' | 'skill'

/** A tag as an item carries it: the spelling shown, and the slug it is found by. */
export interface Tag {
  readonly name: string
  readonly slug: string
}

/** A category; `parent` is the slug of the one above it (categories nest one level). */
export interface Category {
  readonly slug: string
  readonly name: string
  readonly parent: string | null
}

/** The fields that prompts and skills share. Every right follows the owner; the author is the name shown. Times are ISO 8601 in UTC. */
interface ItemBase {
  readonly id: string
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly ownerId: string
  readonly author: string
  /** Others an imported item names beside its author. */
  readonly contributors: readonly string[]
  readonly category: { readonly slug: string; readonly name: string } | null
  readonly tags: readonly Tag[]
  readonly votes: number
  readonly visibility: Visibility
  /** Number of the newest version that is not blocked, from 1. */
  readonly version: number
  /** The newest version, where the check blocks it, above `version`; only its owner sees it. null: none. */
  readonly blockedVersion: number | null
  readonly labels: readonly Label[]
  readonly createdAt: string
  readonly updatedAt: string
  readonly deletedAt: string | null
}

export interface Prompt extends ItemBase, PromptBody {
  readonly kind: 'prompt'
  readonly type: PromptType
  /** The name that programs know it by; null: its slug. */
  readonly apiName: string | null
  readonly variables: readonly Variable[]
}

export interface Skill extends ItemBase {
  readonly kind: 'skill'
  /** In the order shown: SKILL.md first. `size` in bytes. */
  readonly files: readonly { readonly filename: string; readonly size: number }[]
}

/** An item of any kind. */
export type Item = Prompt | Skill

/** The item of a kind. */
export type ItemOf<Kind extends ItemKind> = Extract<Item, { readonly kind: Kind }>

/** Keeps the items of a kind. */
export function isOfKind<Kind extends ItemKind>(kind: Kind) {
  return (item: Item): item is ItemOf<Kind> => item.kind === kind
}

/** A skill as MCP clients list it: its path, the metadata of its SKILL.md, and the digest of every file. */
export interface SkillManifest {
  readonly owner: string
  /** Below the owner: the skill's name, or its slug and name where another of the owner's skills has that name already. */
  readonly path: string
  readonly frontmatter: NamedFrontmatter
  readonly check: CheckNote
  /** `sha256` in hex, `size` in bytes. */
  readonly files: readonly { readonly filename: string; readonly sha256: string; readonly size: number }[]
}

/** A skill as channels hand it out: how it is called, what it is, and the digest of every file. */
export interface SharedSkill {
  readonly id: string
  readonly slug: string
  readonly title: string
  readonly author: string
  readonly category: string | null
  /** Slugs. */
  readonly tags: readonly string[]
  readonly isPublic: boolean
  readonly version: number
  readonly updatedAt: string
  /** The name that public skills keep; null before the first publication. */
  readonly channelName: string | null
  /** The frontmatter of SKILL.md, or why it breaks the specification of Agent Skills. */
  readonly described: SkillDescription
  /** Counts of the check's findings. */
  readonly check: CheckNote
  /** `sha256` in hex, `size` in bytes, `mode` where it is known; SKILL.md first. */
  readonly files: readonly { readonly filename: string; readonly sha256: string; readonly size: number; readonly mode: number | null }[]
}

/** A prompt in a listing without texts: what an MCP prompt list shows. */
export interface PromptEntry extends Pick<Prompt, 'id' | 'slug' | 'title' | 'description' | 'variables' | 'createdAt'> {
  /** The first characters of the text, where there is no description. */
  readonly start: string
}

/** The fields that an editor may set on any item. `category` is a slug; `tags` are names as written. */
export interface ItemFields {
  readonly title: string
  readonly description: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  readonly visibility: Visibility
}

export interface PromptFields extends ItemFields, BodyFields {
  readonly type: PromptType
  readonly apiName?: string | null | undefined
}

export interface SkillFields extends ItemFields {
  readonly files: readonly SkillFile[]
}

/** The fields of a new item. */
export type NewItem = ({ readonly kind: 'prompt' } & PromptFields) | ({ readonly kind: 'skill' } & SkillFields)

/** A version: content, time, author and visibility. Numbers count from 1 without gaps. */
export interface Version {
  readonly version: number
  readonly note: string | null
  readonly author: string
  readonly createdAt: string
  readonly visibility: Visibility
}

/** A version with everything it holds: a prompt's `body`, or a skill's `files`. */
export interface FullVersion extends Version {
  readonly title: string
  readonly description: string | null
  readonly category: string | null
  readonly tags: readonly string[]
  readonly type: PromptType | null
  /** null for a skill. */
  readonly body: PromptBody | null
  readonly files: readonly SkillFile[] | null
}

export interface User {
  readonly id: string
  readonly username: string
  /** A placeholder stands for a contributor of imported items; it owns nothing and cannot sign in. */
  readonly isPlaceholder: boolean
  /** A team owns items and cannot sign in; its members act. */
  readonly isTeam: boolean
  readonly defaultVisibility: DefaultVisibility
  readonly createdAt: string
}
