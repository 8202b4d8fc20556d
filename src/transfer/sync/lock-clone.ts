import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../errors.ts'

/** How often a lock that somebody holds is asked for again. */
const RETRY_MS = 500
const SQLITE_BUSY = 5

/**
 * Locks a clone against other syncs, on this machine, until it is released. The lock is one of the system on a file beside the clone, taken
 * with SQLite: it ends with the process, also with one that was killed.
 * @param onBusy called once when another process holds the lock, which is then waited for. Default: it is refused
 * @returns releases the lock
 * @throws AppError `conflict` when another process holds it, `unavailable` when the file cannot be written
 */
export async function lockClone(folder: string, onBusy?: () => void): Promise<() => void> {
  for (let tries = 0; ; tries++) {
    const release = takeLock(`${folder}.lock`)
    if (release !== null) return release
    if (onBusy === undefined) {
      throw new AppError('conflict', 'Another sync of this Git address is running. Wait until it ends, then sync again.')
    }
    if (tries === 0) onBusy()
    await sleep(RETRY_MS)
  }
}

/** @returns null when another process, or another sync of this one, holds the lock */
function takeLock(path: string): (() => void) | null {
  let file: DatabaseSync | null = null
  try {
    file = new DatabaseSync(path, { timeout: 0 })
    file.exec('begin exclusive')
    const held = file
    return () => held.close()
  } catch (error) {
    file?.close()
    if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === SQLITE_BUSY) {
      return null
    }
    throw new AppError('unavailable', `${path} cannot be locked. Remove the file, or choose another folder with --cache.`, { cause: error })
  }
}
