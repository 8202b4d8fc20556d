import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'

/** Longest wait for a writer's lock. */
const LOCK_WAIT_MS = 15_000

/** Suffixes of files beside a library in use, or left by a killed process. */
export const COMPANIONS = ['-wal', '-shm', '-journal'] as const

/** Removes a library file and what is beside it. */
export function removeFile(path: string): void {
  for (const suffix of ['', ...COMPANIONS]) rmSync(`${path}${suffix}`, { force: true })
}

/** The temporary name of a file: in the same folder, hidden, with a known suffix. */
export function temporaryName(target: string): string {
  return join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}.tmp`)
}

/**
 * Copies a library file as of one moment while others write to it, in one step that writers cannot restart. The copy is readable by its
 * owner alone from the first byte, has no free pages, and is renamed when it is complete and on disk.
 * @param finish adds to the copy before it is checked; false: it is not wanted after all
 * @throws AppError `unavailable` when the copy is not sound; errors of SQLite and of the file system as they are
 */
export async function copySqliteFile(
  path: string,
  target: string,
  finish: (copy: string) => Promise<boolean> = async () => true,
): Promise<void> {
  const temporary = temporaryName(target)
  // SQLite accepts an empty file and keeps its mode.
  closeSync(openSync(temporary, 'wx', 0o600))
  try {
    const source = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS })
    try {
      source.prepare('vacuum into ?').run(temporary)
    } finally {
      source.close()
    }
    foldLog(temporary)
    if (!(await finish(temporary))) return
    checkSqliteFile(temporary)
    syncFile(temporary)
    renameSync(temporary, target)
    syncFile(dirname(target))
  } finally {
    removeFile(temporary)
  }
}

/** @throws AppError `unavailable` when the file is damaged, or is no database */
export function checkSqliteFile(path: string): void {
  const faults = findFaults(path)
  if (faults.length !== 1 || faults[0] !== 'ok') {
    throw new AppError('unavailable', `${path} is damaged: ${faults.join('; ').slice(0, 400)}.`)
  }
}

/** The answer of SQLite's check of a file, which is only read, and in whose schema nothing is trusted. @throws AppError `unavailable` when it is no database */
function findFaults(path: string): unknown[] {
  try {
    const file = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS, defensive: true })
    try {
      file.exec('pragma trusted_schema = off')
      return file.prepare('pragma quick_check(3)').all().flatMap(Object.values)
    } finally {
      file.close()
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('unavailable', `${path} could not be read as a library: ${reason}.`, { cause: error })
  }
}

/**
 * Refuses a library file with the log of another file beside it, which SQLite would apply. A header without WAL (bytes 18 and 19,
 * sqlite.org/fileformat.html) means a backup was put there; a library in use sets WAL before it creates a log. Call it before the process
 * opens the file: closing a file drops the process's locks on it.
 * @throws AppError `unavailable`
 */
export function refuseForeignLog(path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const header = new Uint8Array(20)
  const file = openSync(path, 'r')
  try {
    readSync(file, header, 0, header.length, 0)
  } finally {
    closeSync(file)
  }
  if (header[18] !== 1 || header[19] !== 1) return
  const message = `${path}-wal does not belong to ${path}, which was put there without it, and would damage it. Move ${path}-wal and ${path}-shm away.`
  throw new AppError('unavailable', message)
}

/** Checkpoints a file that nobody else has open, so that nothing of it is in a log. */
export function foldLog(path: string): void {
  const file = new DatabaseSync(path)
  try {
    file.exec('pragma journal_mode = delete')
  } finally {
    file.close()
  }
}

/** Flushes a file or a folder to disk (fsync). */
export function syncFile(path: string): void {
  const isFolder = statSync(path).isDirectory()
  // Windows cannot open folders.
  if (isFolder && process.platform === 'win32') return
  const file = openSync(path, isFolder ? 'r' : 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
