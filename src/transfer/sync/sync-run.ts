import { basename, join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Prompt, Skill, User } from '../../library/items.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import type { SyncedPath } from '../../library/ports/sync.ts'
import type { SkillFile } from '../../library/skill.ts'
import { knownCategory } from '../prepare-prompt.ts'
import { readRegularFile } from '../regular-file.ts'
import { digestSkill, MAX_PROMPT_BYTES, readSkill } from './scan-folder.ts'
import { readSyncedPrompt, type SyncedDraft, sha256 } from './synced-prompt.ts'
import { changedMeanwhile, type FolderWriter } from './write-file.ts'

/** What a sync did, or would do. */
export interface SyncReport {
  created: number
  updated: number
  /** Files and skill folders written. */
  written: number
  conflicts: number
  deleted: number
  /** Items among `deleted`: they are in the trash. */
  trashed: number
  /** Deleted on one side, and left on the other. */
  left: number
  refused: number
  /** One sentence for each change. */
  changes: string[]
  /** Those of the changes that are saved in the library: they stay when a clone is thrown away. */
  lasting: string[]
  /** What was not synced, and why. */
  remarks: string[]
  /** Files in the folder that a sync wrote or removed, also conflict copies: never a whole folder, which may hold secrets. */
  touched: string[]
}

/** A state that is saved once the remote has what was written. */
export interface StateChange {
  readonly from: SyncedPath | null
  readonly to: SyncedPath | null
}

/** What syncing the clone of a Git repository needs beside the folder. */
export interface CloneStates {
  /** As they were before the remote was read. A newer state would make older files look like changes. */
  readonly before: readonly SyncedPath[]
  /** Filled by the sync: states of what it wrote, which the remote does not have yet. */
  readonly unsaved: StateChange[]
  /** The files among these that Git would not commit. */
  findIgnored(names: readonly string[]): Promise<ReadonlySet<string>>
}

/** A sync that runs: what its steps need. */
export interface Run {
  readonly store: LibraryStore
  readonly user: User
  readonly root: string
  readonly target: string
  readonly isDryRun: boolean
  /** Unset for a folder that is not the clone of a remote. */
  readonly clone: CloneStates | undefined
  readonly writer: FolderWriter
  readonly report: SyncReport
  readonly categories: ReadonlySet<string>
}

/** A prompt as it is now. @throws AppError `conflict` when it is gone */
export async function findPrompt({ user }: Run, store: LibraryStore, id: string): Promise<Prompt> {
  const [found] = await store.transfer.exportPrompts(user.id, 0, 1, [id])
  if (!found) throw new AppError('conflict', 'the item was deleted while it was synced. Sync again.')
  return found.prompt
}

/** A skill as it is now. @throws AppError `conflict` when it is gone */
export async function findSkill({ user }: Run, store: LibraryStore, id: string): Promise<{ skill: Skill; files: readonly SkillFile[] }> {
  const [found] = await store.transfer.exportSkills(user.id, 0, 1, [id])
  if (!found) throw new AppError('conflict', 'the item was deleted while it was synced. Sync again.')
  return found
}

/** A prompt's file as it was when the folder was read. @throws AppError `conflict` when it is another one */
export async function readPromptBytes({ root }: Run, path: string, digest: string): Promise<Buffer> {
  const bytes = await readRegularFile(join(root, path), MAX_PROMPT_BYTES)
  if (bytes === null || sha256(bytes) !== digest) throw changedMeanwhile(path)
  return bytes
}

/** The files of a skill as they were when the folder was read. @throws AppError `conflict` when they are others */
export async function readSkillFiles({ root }: Run, path: string, digest: string, known: readonly string[]): Promise<readonly SkillFile[]> {
  const { files } = await readSkill(root, path, new Set(known))
  if (digestSkill(files) !== digest) throw changedMeanwhile(path)
  return files
}

/** What a prompt's file says, with a category that exists. */
export function readDraft({ categories, report }: Run, path: string, bytes: Uint8Array, current: Prompt | null): SyncedDraft {
  const draft = readSyncedPrompt(basename(path), bytes, current)
  const { category, remark } = knownCategory(draft.category, categories, { leavesOutUnknownCategories: true })
  if (remark === undefined) return draft
  report.remarks.push(`${path}: ${remark}.`)
  return { ...draft, category: category ?? current?.category?.slug ?? null }
}

/** Saves the state of what was written to the folder, or leaves that to the push. */
export async function saveWritten(run: Run, from: SyncedPath | null, to: SyncedPath | null): Promise<void> {
  if (run.clone) run.clone.unsaved.push({ from, to })
  else await run.store.syncs.saveSynced(run.user.id, run.target, from, to)
}

/** Notes a change that the library has. */
export function noteLasting(report: SyncReport, change: string): void {
  report.changes.push(change)
  report.lasting.push(change)
}
