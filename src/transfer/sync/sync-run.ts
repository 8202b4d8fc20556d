import { basename, join } from 'node:path'
import type { Prompt, User } from '../../domain/items/items.ts'
import type { SyncedPath } from '../../domain/service/sync.ts'
import type { SkillFile } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { knownCategory, type PromptChecks } from '../prepare-prompt.ts'
import { readRegularFile } from '../regular-file.ts'
import { digestSkill, MAX_PROMPT_BYTES, readSkill } from './scan-folder.ts'
import { digestPrompt, readSyncedPrompt, type SyncedDraft, sha256 } from './synced-prompt.ts'
import { changedMeanwhile, type FolderWriter } from './write-file.ts'

/** The result of a sync, or of a dry run. */
export interface SyncReport {
  created: number
  updated: number
  /** Files and skill folders written. */
  written: number
  conflicts: number
  deleted: number
  /** Deleted on one side, and left on the other. */
  left: number
  refused: number
  /** One sentence for each change. */
  changes: string[]
  /** Reasons why something was not synced. */
  remarks: string[]
}

/** A sync that runs: what its steps need. */
export interface Run {
  readonly store: LibraryStore
  readonly user: User
  /** The folder. It names the state, too. */
  readonly root: string
  readonly isDryRun: boolean
  readonly writer: FolderWriter
  readonly report: SyncReport
  readonly categories: ReadonlySet<string>
  readonly checks: PromptChecks | undefined
}

const goneMeanwhile = () => new AppError('conflict', 'the item was deleted while it was synced. Sync again.')

/** The part of a state that follows from the item as it is now. */
type Noted = Pick<SyncedPath, 'itemId' | 'libraryDigest' | 'version'>

/** A prompt as it is now. @throws AppError `conflict` when it is gone */
export async function findPrompt({ user }: Run, store: LibraryStore, id: string): Promise<{ prompt: Prompt; noted: Noted }> {
  const [found] = await store.transfer.exportPrompts(user.id, 0, 1, [id])
  if (!found) throw goneMeanwhile()
  const { prompt } = found
  return { prompt, noted: { itemId: id, libraryDigest: digestPrompt(prompt), version: prompt.version } }
}

/** A skill as it is now. @throws AppError `conflict` when it is gone */
export async function findSkill({ user }: Run, store: LibraryStore, id: string) {
  const [found] = await store.transfer.exportSkills(user.id, 0, 1, [id])
  if (!found) throw goneMeanwhile()
  const { skill, files } = found
  const noted: Noted = { itemId: id, libraryDigest: digestSkill(files), version: skill.version }
  return { skill, files, noted }
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

/** The draft in a prompt's file, with a category that exists. */
export function readDraft({ categories, report }: Run, path: string, bytes: Uint8Array, current: Prompt | null): SyncedDraft {
  const draft = readSyncedPrompt(basename(path), bytes, current)
  const { category, remark } = knownCategory(draft.category, categories, { leavesOutUnknownCategories: true })
  if (remark === undefined) return draft
  report.remarks.push(`${path}: ${remark}.`)
  return { ...draft, category: category ?? current?.category?.slug ?? null }
}

/** Saves the last synced state of a path. */
export async function saveState({ store, user, root }: Run, from: SyncedPath | null, to: SyncedPath | null, writer = store): Promise<void> {
  await writer.syncs.saveSynced(user.id, root, from, to)
}
