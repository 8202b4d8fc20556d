import { stringify } from 'yaml'
import type { Item, Prompt, Skill } from '../items/items.ts'
import type { DefaultVisibility } from '../items/visibility.ts'
import { describeBody, type PromptBody } from '../prompts/body.ts'
import type { SkillFile } from '../skills/skill.ts'

/** A hold: an administrator unlisted an item. `from` is the visibility that lifting it restores. */
export interface Hold {
  readonly at: string
  readonly from: 'public' | null
}

/** A team that owns items of an export. */
export interface ExportedTeam {
  readonly name: string
  readonly displayName: string | null
  readonly description: string | null
  /** The default visibility. */
  readonly newItems: DefaultVisibility
}

/** Export data of an item besides the item itself. */
interface ExportedItem {
  /** Where it stands in the walk. */
  readonly order: number
  /** The owner's username. */
  readonly owner: string
  /** null: it is not held. */
  readonly held: Hold | null
}

export interface ExportedPrompt extends ExportedItem {
  readonly prompt: Prompt
}

export interface ExportedSkill extends ExportedItem {
  readonly skill: Skill
  readonly files: readonly SkillFile[]
}

/** The contents of a whole-library file without logins. */
export interface WholeLibrary {
  /** Hex SHA-256 of all of it: the same wherever the same library is. */
  readonly digest: string
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>
}

/** Called as the rows of a table are copied. */
export type OnCopied = (progress: { readonly table: string; readonly rows: number; readonly ofRows: number }) => unknown

/** One path of a synced folder as both sides had it at the end of the last sync. */
export interface SyncedPath {
  /** `prompts/NAME.md`, or `skills/NAME` for a folder. */
  readonly path: string
  /** Of an item that may be gone. */
  readonly itemId: string
  /** Hex SHA-256 of what the folder had. */
  readonly digest: string
  /** Hex SHA-256 of the item as a file. It differs from `digest` where the file is written in another way. */
  readonly libraryDigest: string
  /** Of the item. */
  readonly version: number
}

/** A file beside the service that holds the library as it was. */
export interface LibraryCopy {
  readonly path: string
  /** `backup`: in `BACKUP_DIR`; `upgrade`: made before an upgrade; `replaced`: set aside by a restore. */
  readonly kind: 'backup' | 'upgrade' | 'replaced'
  readonly bytes: number
  /** When it was last written, as ISO 8601 in UTC. */
  readonly writtenAt: string
}

/** Names inside an exported library, which an import reads back. */
export const EXPORT_NAMES = {
  prompts: 'prompts.jsonl',
  skillsIndex: 'skills.json',
  skillsFolder: 'skills',
  categories: 'categories.json',
  teams: 'teams.json',
} as const

function exportItem(item: Item, owner: string, held: Hold | null) {
  return {
    id: item.id,
    slug: item.slug,
    title: item.title,
    description: item.description,
    category: item.category?.slug ?? null,
    tags: item.tags.map((tag) => tag.name),
    owner,
    author: item.author,
    contributors: [...item.contributors],
    visibility: item.visibility,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    ...(held ? { heldAt: held.at, heldFrom: held.from } : {}),
  }
}

/** A prompt as a line of an export, without the line's end. */
export function toExportLine({ prompt, owner, held }: ExportedPrompt): string {
  const { id, slug, title, description, ...more } = exportItem(prompt, owner, held)
  return JSON.stringify({ id, slug, title, description, content: prompt.content, type: prompt.type, ...more, ...describeBody(prompt) })
}

/** A skill as the index of an export has it; `folder` is where its files lie. */
export function toExportEntry({ skill, owner, held }: Omit<ExportedSkill, 'files'>) {
  return { folder: skill.slug, ...exportItem(skill, owner, held) }
}

/** The fields of a prompt in its file. */
interface FiledPrompt extends Pick<PromptBody, 'content'> {
  readonly messages?: PromptBody['messages'] | undefined
  readonly config?: PromptBody['config'] | undefined
  /** Undefined: the file does not say. */
  readonly syntax?: PromptBody['syntax'] | undefined
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly type: string
  readonly author: string
  readonly category: string | null
  readonly tags: readonly string[]
}

/**
 * A prompt as a `.prompt.md` file, which editors read as a command: its metadata as YAML frontmatter, then its unchanged text.
 * @example writePromptMarkdown({slug: 'hi', title: 'Hi', content: 'Say hi', ...}) // '---\nname: hi\n…---\n\nSay hi'
 */
export function writePromptMarkdown(prompt: FiledPrompt): string {
  const { slug, title, description, type, author, category, tags } = prompt
  const head = {
    name: slug,
    title,
    ...(description === null ? {} : { description }),
    type,
    author,
    ...(category === null ? {} : { category }),
    ...(tags.length === 0 ? {} : { tags }),
    ...bodyFields(prompt),
  }
  return `---\n${stringify(head, { lineWidth: 0 })}---\n\n${prompt.content}`
}

function bodyFields({ content, messages = null, config = null, syntax }: FiledPrompt) {
  const { syntax: said, ...more } = describeBody({ content, messages, config, syntax: syntax ?? 2 })
  return { ...more, ...(said !== undefined && syntax !== undefined && { syntax }) }
}
