import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'

/** Longest wait for a writer's lock. */
const LOCK_WAIT_MS = 15_000

/** What stands beside a library file while it is in use, or was left there by a process that was killed. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const

/** The name under which a file is made before it gets its own: in the same folder, hidden, and known by its end. */
function temporaryName(target: string): string {
  return join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}.tmp`)
}

/**
 * Copies a library file as it stands at one moment, beside whoever writes to it: in one step, which writers do not start anew. The copy is
 * readable by its owner alone from its first byte, has no free pages, and takes its name when it is whole and on the disk.
 * @param finish adds to the copy before it is checked; false: it is not wanted after all
 * @throws AppError `unavailable` when the copy is not sound; errors of SQLite and of the file system as they are
 */
export async function copySqliteFile(
  path: string,
  target: string,
  finish: (copy: string) => Promise<boolean> = async () => true,
): Promise<void> {
  const temporary = temporaryName(target)
  // SQLite takes an empty file, and keeps its mode.
  closeSync(openSync(temporary, 'wx', 0o600))
  try {
    const source = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS })
    try {
      source.prepare('vacuum into ?').run(temporary)
    } finally {
      source.close()
    }
    if (!(await finish(temporary))) return
    checkSqliteFile(temporary)
    syncFile(temporary)
    renameSync(temporary, target)
    syncFile(dirname(target))
  } finally {
    for (const suffix of ['', ...COMPANIONS]) rmSync(`${temporary}${suffix}`, { force: true })
  }
}

/** @throws AppError `unavailable` when the file is damaged, or is no database */
function checkSqliteFile(path: string): void {
  const faults = readOnly(path, (file) => file.prepare('pragma quick_check(3)').all().flatMap(Object.values))
  if (faults.length !== 1 || faults[0] !== 'ok') {
    throw new AppError('unavailable', `${path} is damaged: ${faults.join('; ').slice(0, 400)}.`)
  }
}

/** Opens a file for `work`, which writes nothing. @throws AppError `unavailable` when it is damaged, or is no database */
export function readOnly<T>(path: string, work: (file: DatabaseSync) => T): T {
  try {
    const file = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS })
    try {
      return work(file)
    } finally {
      file.close()
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('unavailable', `${path} could not be read as a library: ${reason}.`, { cause: error })
  }
}

/** Waits until a file's bytes, or a folder's names, are on the disk. */
function syncFile(path: string): void {
  if (!existsSync(path)) return
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
