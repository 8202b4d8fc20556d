import { chownSync, existsSync, linkSync, mkdirSync, realpathSync, renameSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock, Random } from '../../domain/ports/environment.ts'
import { AppError } from '../../errors.ts'
import type { WordVectors } from '../../search/vectors/word-vectors.ts'
import { checkLibraryFile, rebuildFile, removeFile } from '../copy/library-file.ts'
import { removeSnapshots } from '../dialects/snapshot-file.ts'
import { COMPANIONS, checkSqliteFile, foldLog, refuseForeignLog, syncFile } from '../dialects/sqlite-copy.ts'
import { prepareRestored, type Restored } from './prepare-restored.ts'
import { type HeldLibrary, holdLibrary } from './present-library.ts'

/** Temporary name of the new library. */
const PREPARED = '.restoring'

/** The steps of a restore. A kill at any of them leaves the old or the new library whole. */
export const RESTORE_STEPS = ['checked', 'held', 'copied', 'prepared', 'kept', 'cleared', 'placed', 'verified'] as const

/** How a backup is restored. */
export interface RestoreOptions {
  /** Whether all keys end. Default: false. */
  readonly revokesKeys?: boolean
  /** Whether to replace a library that cannot be read, and so may be in use. Default: false. */
  readonly replacesUnreadable?: boolean
  readonly clock: Clock
  readonly random: Random
  readonly vectors: WordVectors
  /** Called after each step. */
  readonly onStep?: (step: (typeof RESTORE_STEPS)[number]) => void
}

/** The result of a restore. */
export interface RestoreReport extends Restored {
  /** Where the replaced library is now; null when there was none. */
  readonly keptAs: string | null
  /** Whether the backup matched its manifest. */
  readonly hadManifest: boolean
}

/**
 * Puts a backup in the place of a library file. The replaced file is kept beside it.
 * @throws AppError `not_found` for a missing backup; `conflict` while the library is in use, for a log beside the backup, and for a library
 * that cannot be read; `unavailable` for a backup that is damaged or of a newer version
 */
export async function restoreFile(backup: string, path: string, options: RestoreOptions): Promise<RestoreReport> {
  const { onStep = () => {} } = options
  refuseSource(backup, path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const prepared = `${path}${PREPARED}`
  onStep('checked')
  if (existsSync(path)) refuseForeignLog(path)
  const held = existsSync(path) ? await holdLibrary(path) : null
  try {
    refuseUnreadable(held, path, options.replacesUnreadable ?? false)
    onStep('held')
    removeFile(prepared)
    const hadManifest = await rebuildChecked(backup, prepared)
    onStep('copied')
    const restored = await prepareRestored(prepared, held?.afterwards ?? null, { revokesKeys: false, ...options })
    foldLog(prepared)
    giveToOwner(prepared, path)
    syncFile(prepared)
    onStep('prepared')
    const keptAs = await keepPresent(path, new Date(options.clock()))
    onStep('kept')
    if (!held || held.fault !== null) removeFile(path)
    removeSnapshots(path)
    onStep('cleared')
    renameSync(prepared, path)
    syncFile(dirname(path))
    onStep('placed')
    checkSqliteFile(path)
    onStep('verified')
    return { ...restored, keptAs, hadManifest }
  } finally {
    held?.release()
  }
}

/**
 * Prepares a backup for another engine, at a temporary path that is removed after `work`.
 * @param folder where it may be written, readable by nobody else
 * @throws AppError as {@link restoreFile}
 */
export async function withRestored<T>(
  backup: string,
  folder: string,
  options: RestoreOptions,
  work: (path: string) => Promise<T>,
): Promise<{ result: T; restored: Restored & { readonly hadManifest: boolean } }> {
  const path = `${folder}/library.db`
  refuseSource(backup, path)
  try {
    const hadManifest = await rebuildChecked(backup, path)
    const restored = await prepareRestored(path, null, { revokesKeys: false, ...options })
    return { restored: { ...restored, hadManifest }, result: await work(path) }
  } finally {
    removeFile(path)
  }
}

/** @throws AppError `unavailable` when a restore was killed between taking the old library away and putting the new one in its place */
export function refuseCutOffRestore(path: string): void {
  const prepared = `${path}${PREPARED}`
  if (existsSync(path) || !existsSync(prepared)) return
  const message = `A restore of the library at ${path} was interrupted. Run the same restore again, or remove ${prepared} to continue without it.`
  throw new AppError('unavailable', message)
}

function refuseSource(backup: string, path: string): void {
  if (!existsSync(backup)) throw new AppError('not_found', `No backup found at ${backup}.`)
  if (existsSync(path) && realpathSync(path) === realpathSync(backup)) throw new AppError('conflict', `${backup} is the library itself.`)
  for (const suffix of COMPANIONS) {
    const log = `${backup}${suffix}`
    // The index of a log holds no data of its own.
    if (suffix === '-shm' || (statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) continue
    const message = `${log} lies next to the backup. If it belongs to the backup, the backup was copied while in use: create another with "backup". Otherwise move it away.`
    throw new AppError('conflict', message)
  }
}

function refuseUnreadable(held: HeldLibrary | null, path: string, isAllowed: boolean): void {
  if (!held || held.fault === null || isAllowed) return
  const message = `The library at ${path} cannot be read (${held.fault}) and may be in use. Stop the service, then restore with --force.`
  throw new AppError('conflict', message)
}

/** Checks a backup and copies its rows to a new file. Returns whether it had a manifest. */
async function rebuildChecked(backup: string, target: string): Promise<boolean> {
  const said = await checkLibraryFile(backup)
  if (said?.hasLogins === false) {
    throw new AppError('invalid_input', `${backup} has no logins and keys. Import it into an empty library with "import library".`)
  }
  await rebuildFile(backup, target)
  return said !== null
}

/** The service must be able to write what root restores: the file gets the owner of the replaced library, or of the folder. */
function giveToOwner(prepared: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(existsSync(path) ? path : dirname(path))
  chownSync(prepared, uid, gid)
}

/** Adds a second name (hard link) to the files of the current library. */
async function keepPresent(path: string, now: Date): Promise<string | null> {
  const present = ['', ...COMPANIONS].filter((suffix) => existsSync(`${path}${suffix}`))
  if (present.length === 0) return null
  const keptAs = findFreeName(`${path}.replaced-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`)
  for (const suffix of present) {
    try {
      linkSync(`${path}${suffix}`, `${keptAs}${suffix}`)
    } catch {
      // Some file systems have no hard links.
      await copyFile(`${path}${suffix}`, `${keptAs}${suffix}`)
      syncFile(`${keptAs}${suffix}`)
    }
  }
  syncFile(dirname(path))
  return keptAs
}

function findFreeName(name: string): string {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name}-${count}`
    if (!existsSync(candidate)) return candidate
  }
}
