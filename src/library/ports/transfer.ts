import type { HistoryCounts, HistoryRecord } from '../history-records.ts'
import type { Category, Prompt, Skill } from '../items.ts'
import type { SkillFile } from '../skill.ts'
import type { DefaultVisibility } from '../visibility.ts'

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

/** Reads for an export, for whoever holds the database itself: no actor is asked for. */
export interface ExportReader {
  /** Everything one owner has (or all), or those of `ids`, in order of creation, a page at a time. The trash is left out. */
  exportPrompts(ownerId: string | null, after: number, limit: number, ids?: readonly string[]): Promise<ExportedPrompt[]>
  exportSkills(ownerId: string | null, after: number, limit: number, ids?: readonly string[]): Promise<ExportedSkill[]>
  /** The teams that own items outside the trash, by name: all, or one. */
  exportTeams(ownerId: string | null): Promise<ExportedTeam[]>
  /** Every category, each after its parent. */
  exportCategories(): Promise<Category[]>
  /**
   * The whole library without credentials, in a fixed order.
   * @throws AppError `unavailable` while somebody is being removed
   */
  exportHistory(): AsyncIterable<HistoryRecord>
  /** The contents of all files of skills, of every version, each once. */
  exportBlobs(): AsyncIterable<{ readonly sha256: string; readonly bytes: Uint8Array }>
}

/** What a whole export is read from. */
export interface HistorySource {
  /** Hex SHA-256 of the lines of all records. */
  readonly digest: string
  /** The records in order; throws at the end when they do not match the digest. */
  readonly records: AsyncIterable<HistoryRecord>
  /** The bytes of a file. @throws AppError `invalid_input` when there is none of this digest */
  readBlob(sha256: string): Promise<Uint8Array>
}

/** What exports and imports need of the store. */
export interface TransferStore extends ExportReader {
  /** Runs reads on one snapshot of the library. */
  readSnapshot<T>(work: (reader: ExportReader) => Promise<T>): Promise<T>
  /**
   * Fills an empty library with a whole export, in one transaction: all of it or nothing. Replaces the initial categories. People have no
   * login. A library with exactly this content is left unchanged.
   * @param onItem called for each item read
   * @throws AppError `conflict` when the library holds something else, `invalid_input` naming what is wrong with the export
   */
  importHistory(source: HistorySource, onItem?: () => void): Promise<{ readonly counts: HistoryCounts; readonly isNew: boolean }>
}
