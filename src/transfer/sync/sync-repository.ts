import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { User } from '../../library/items.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import { checkConfiguration, commitPaths, findIgnored, makeClone, openClone, placeInWorkTree, pushClone } from './git.ts'
import { lockClone } from './lock-clone.ts'
import { type SyncOptions, syncFolder } from './sync-folder.ts'
import type { CloneStates, StateChange, SyncReport } from './sync-run.ts'

/** How often a push is tried when others push at the same time. */
const MAX_PUSHES = 3

/** Syncs a folder, and commits what was written there when it is the top of a Git work tree: one commit for a sync. */
export async function syncWorkTree(store: LibraryStore, user: User, folder: string, options: SyncOptions): Promise<SyncReport> {
  const report = await syncFolder(store, user, folder, options)
  const place = report.touched.length > 0 ? await placeInWorkTree(folder) : 'outside'
  if (place === 'below') report.remarks.push('The folder is part of a Git repository, not the top of one: nothing was committed.')
  if (place === 'top') {
    try {
      await checkConfiguration(folder)
      if (await commitPaths(folder, report.touched, describe(report))) report.changes.push('Committed.')
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      report.refused++
      report.remarks.push(`The folder is synced, and not committed: ${error.message}`)
    }
  }
  return report
}

export interface RepositoryOptions extends SyncOptions {
  /** Called when another sync of the clone runs, which is then waited for. Default: it is refused */
  readonly onBusy?: () => void
}

/**
 * Syncs a Git repository through a clone in a cache folder: reads the remote before, pushes after.
 * @param address as `isGitAddress` allows, or the path of a local repository
 * @throws AppError `unavailable` when Git fails, `conflict` when another sync of the clone runs, and as `syncFolder`
 */
export async function syncRepository(
  store: LibraryStore,
  user: User,
  address: string,
  cacheFolder: string,
  options: RepositoryOptions,
): Promise<SyncReport> {
  if (options.isDryRun) return await tryRepository(store, user, address, options)
  const name = createHash('sha256').update(`${user.id}\0${address}`).digest('hex').slice(0, 24)
  const folder = join(cacheFolder, name)
  await mkdir(cacheFolder, { recursive: true, mode: 0o700 })
  const release = await lockClone(folder, options.onBusy)
  try {
    return await syncClone(store, user, address, folder, options)
  } finally {
    release()
  }
}

async function syncClone(store: LibraryStore, user: User, address: string, folder: string, options: SyncOptions): Promise<SyncReport> {
  let report: SyncReport | null = null
  for (let tries = 0; tries < MAX_PUSHES; tries++) {
    // In this order: states that are newer than the files would make these look changed.
    const before = await store.syncs.listSynced(user.id, address)
    await openClone(address, folder)
    const clone = statesOf(folder, before)
    report = addReports(report, await syncFolder(store, user, folder, { ...options, target: address, clone }))
    if (await commitPaths(folder, report.touched, describe(report), { takesIgnored: true })) report.changes.push('Committed.')
    if (!(await pushClone(address, folder))) continue
    await saveStates(store, user, address, clone.unsaved)
    return report
  }
  throw new AppError('conflict', 'Others push to this repository all the time. What it had is in the library; sync again to push the rest.')
}

/** Says what a sync would do, with a clone that is removed again. */
async function tryRepository(store: LibraryStore, user: User, address: string, options: SyncOptions): Promise<SyncReport> {
  const place = await mkdtemp(join(tmpdir(), 'commonplace-sync-'))
  try {
    const before = await store.syncs.listSynced(user.id, address)
    const folder = join(place, 'clone')
    await makeClone(address, folder)
    return await syncFolder(store, user, folder, { ...options, target: address, clone: statesOf(folder, before) })
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

function statesOf(folder: string, before: CloneStates['before']): CloneStates {
  return { before, unsaved: [], findIgnored: (names) => findIgnored(folder, names) }
}

/** Saves states once they are true of the remote. */
async function saveStates(store: LibraryStore, user: User, target: string, changes: readonly StateChange[]): Promise<void> {
  for (const { from, to } of changes) {
    try {
      await store.syncs.saveSynced(user.id, target, from, to)
    } catch (error) {
      // Another machine synced the path and saved its state. Should it be an older one, the next sync finds both sides equal.
      if (!(error instanceof AppError && error.code === 'conflict')) throw error
    }
  }
}

/** @param one of a sync whose push was rejected: only what it saved in the library counts */
function addReports(one: SyncReport | null, other: SyncReport): SyncReport {
  if (one === null) return other
  return {
    ...other,
    created: one.created + other.created,
    updated: one.updated + other.updated,
    deleted: one.trashed + other.deleted,
    trashed: one.trashed + other.trashed,
    changes: [...one.lasting, ...other.changes],
    lasting: [...one.lasting, ...other.lasting],
  }
}

function describe({ written, deleted, conflicts }: SyncReport): string {
  const parts = [
    [written, 'written'],
    [deleted, 'deleted'],
    [conflicts, conflicts === 1 ? 'conflict' : 'conflicts'],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]))
  return `Sync with Commonplace: ${parts.join(', ')}`
}
