import { createHash } from 'node:crypto'
import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { User } from '../../library/items.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import { commitPaths, placeInWorkTree, pullClone, pushClone } from './git.ts'
import { type SyncOptions, syncFolder } from './sync-folder.ts'
import type { SyncReport } from './sync-run.ts'

/** How often a push is tried when others push at the same time. */
const MAX_PUSHES = 3

/** Syncs a folder, and commits what was written there when it is the top of a Git work tree: one commit for a sync. */
export async function syncWorkTree(store: LibraryStore, user: User, folder: string, options: SyncOptions): Promise<SyncReport> {
  const report = await syncFolder(store, user, folder, options)
  const place = report.touched.length > 0 ? await placeInWorkTree(folder) : 'outside'
  if (place === 'below') report.remarks.push('The folder is part of a Git repository, not the top of one: nothing was committed.')
  if (place === 'top') {
    try {
      if (await commitPaths(folder, report.touched, describe(report))) report.changes.push('Committed.')
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      report.refused++
      report.remarks.push(`The folder is synced, and not committed: ${error.message}`)
    }
  }
  return report
}

/**
 * Syncs a Git repository through a clone in a cache folder: pulls before, pushes after.
 * @param address as `isGitAddress` allows, or the path of a local repository
 * @throws AppError `unavailable` when Git fails, and as `syncFolder`
 */
export async function syncRepository(
  store: LibraryStore,
  user: User,
  address: string,
  cacheFolder: string,
  options: SyncOptions,
): Promise<SyncReport> {
  const name = createHash('sha256').update(`${user.id}\0${address}`).digest('hex').slice(0, 24)
  const folder = join(cacheFolder, name)
  await mkdir(cacheFolder, { recursive: true, mode: 0o700 })
  let report: SyncReport | null = null
  for (let tries = 0; tries < MAX_PUSHES; tries++) {
    const exists = (await lstat(join(folder, '.git')).catch(() => null)) !== null
    const { diverged } = await pullClone(address, folder, exists)
    // Without a common state both sides count as changed, and both are kept.
    await dropStates(store, user, address, new Set(diverged))
    report = addReports(report, await syncWorkTree(store, user, folder, { ...options, target: address }))
    if (options.isDryRun || (await pushClone(folder))) return report
  }
  throw new AppError(
    'conflict',
    'Others push to this repository all the time. Everything is committed in the clone; sync again to push it.',
  )
}

async function dropStates(store: LibraryStore, user: User, target: string, paths: ReadonlySet<string>): Promise<void> {
  if (paths.size === 0) return
  for (const row of await store.syncs.listSynced(user.id, target)) {
    if (paths.has(row.path)) await store.syncs.saveSynced(user.id, target, row, null)
  }
}

function addReports(one: SyncReport | null, other: SyncReport): SyncReport {
  if (one === null) return other
  const sum = (name: 'created' | 'updated' | 'written' | 'conflicts' | 'deleted') => one[name] + other[name]
  return {
    ...other,
    created: sum('created'),
    updated: sum('updated'),
    written: sum('written'),
    conflicts: sum('conflicts'),
    deleted: sum('deleted'),
    changes: [...one.changes, ...other.changes],
    touched: [...one.touched, ...other.touched],
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
