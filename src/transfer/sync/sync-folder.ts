import { realpath, stat } from 'node:fs/promises'
import type { User } from '../../domain/items/items.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { readPrompts, readSkills } from '../library-folder.ts'
import { type PromptChecks, readCategories } from '../prepare-prompt.ts'
import { planSync, type SyncedItem } from './plan-sync.ts'
import { digestSkill, MAX_PATHS, type Run, type SyncReport, scanFolder } from './scan-folder.ts'
import { digestPrompt, openFolderWriter } from './synced-files.ts'
import { takeStep } from './take-step.ts'

const MAX_TARGET = 1_000

export interface SyncOptions {
  /** Carries deletions over: to the trash in the library. Default: false */
  readonly deletes?: boolean
  /** Says what would be done, and writes nothing. Default: false */
  readonly isDryRun?: boolean
  /** Milliseconds. */
  readonly now: number
  /** Default: none */
  readonly checks?: PromptChecks
}

/**
 * Syncs a user's prompts and skills with a folder, in both directions. Nothing is merged: where both sides changed, the library's version
 * stays and the folder's is kept beside it. Repeat a sync that was killed.
 * @throws AppError `invalid_input` for a folder that cannot be synced, `conflict` when deletions would empty a side
 */
export async function syncFolder(store: LibraryStore, user: User, folder: string, options: SyncOptions): Promise<SyncReport> {
  const root = await openRoot(folder)
  if (root.length > MAX_TARGET) throw new AppError('invalid_input', `The folder's path has more than ${MAX_TARGET} characters.`)
  const none = { created: 0, updated: 0, written: 0, conflicts: 0, deleted: 0, left: 0, refused: 0 }
  const report: SyncReport = { ...none, changes: [], remarks: [] }
  const state = await store.syncs.listSynced(user.id, root)
  const items = await readItems(store, user.id)
  const itemOf = new Map(state.map((row) => [row.path, row.itemId]))
  const bySlug = new Map([...items.values()].map((item) => [`skills/${item.slug}`, item]))
  const scan = await scanFolder(root, (path) => new Set((items.get(itemOf.get(path) ?? '') ?? bySlug.get(path))?.filenames))
  report.remarks.push(...scan.remarks)
  report.refused += scan.refused.size
  if (scan.conflictCopies > 0) {
    report.remarks.push(`${scan.conflictCopies} copies of conflicts are in the folder. Take from them what you need, then delete them.`)
  }
  const steps = planSync({ state, items, folder: scan.folder, refused: scan.refused }, options.deletes ?? false)
  const writer = await openFolderWriter(root, options.now)
  const categories = await readCategories(store)
  const run: Run = { store, user, root, isDryRun: options.isDryRun ?? false, writer, report, categories, checks: options.checks }
  try {
    for (const step of steps) {
      try {
        await takeStep(run, step)
      } catch (error) {
        report.refused++
        report.remarks.push(`${step.path} is not synced: ${toReason(error).replace(/\.$/, '')}.`)
      }
    }
  } finally {
    await writer.close()
  }
  return report
}

function toReason(error: unknown): string {
  if (error instanceof AppError && error.code !== 'internal') return error.message
  // Of the file system.
  if (error instanceof Error && 'syscall' in error && 'code' in error) return `${error.syscall} failed with ${error.code}`
  throw error
}

async function openRoot(folder: string): Promise<string> {
  const root = await realpath(folder).catch(() => null)
  if (root === null || !(await stat(root)).isDirectory()) {
    throw new AppError('invalid_input', `${folder} is not a folder. Create it first.`)
  }
  return root
}

/** The user's items without their texts. */
async function readItems(store: LibraryStore, ownerId: string): Promise<Map<string, SyncedItem>> {
  const items = new Map<string, SyncedItem>()
  const add = (item: SyncedItem) => {
    if (items.size >= MAX_PATHS) throw new AppError('invalid_input', `The user has more than ${MAX_PATHS} items, the limit of a sync.`)
    items.set(item.id, item)
  }
  await store.transfer.readSnapshot(async (reader) => {
    for await (const { prompt } of readPrompts(reader, ownerId))
      add({ kind: 'prompt', id: prompt.id, slug: prompt.slug, digest: digestPrompt(prompt), filenames: [] })
    for await (const { skill, files } of readSkills(reader, ownerId)) {
      const filenames = files.map((file) => file.filename)
      add({ kind: 'skill', id: skill.id, slug: skill.slug, digest: digestSkill(files), filenames })
    }
  })
  return items
}
