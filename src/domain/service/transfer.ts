import type { Prompt, Skill } from '../items/items.ts'
import type { DefaultVisibility } from '../items/visibility.ts'
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
