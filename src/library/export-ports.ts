import type { Category, Prompt, Skill } from './items.ts'
import type { SkillFile } from './skill.ts'

/** That an administrator took an item out of the lists, and what lifting that makes it again. */
export interface Hold {
  readonly at: string
  readonly from: 'public' | null
}

/** What an export says of an item beside the item itself. */
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

/** Reads for an export, for whoever holds the database itself: no actor is asked for. */
export interface ExportReader {
  /** Everything one owner has (or all), in order of creation, a page at a time. The trash is left out. */
  exportPrompts(ownerId: string | null, after: number, limit: number): Promise<ExportedPrompt[]>
  exportSkills(ownerId: string | null, after: number, limit: number): Promise<ExportedSkill[]>
  /** Every category, each after its parent. */
  exportCategories(): Promise<Category[]>
}

/** What exports and imports need of the store. */
export interface TransferStore extends ExportReader {
  /** Runs reads on the library as it is at one moment, however long they take and whoever writes meanwhile. */
  readSnapshot<T>(work: (reader: ExportReader) => Promise<T>): Promise<T>
}
