import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { copyRows, removeCategories } from '../copy/copy-library.ts'
import type { OpenDatabase } from '../dialects/dialect.ts'
import { openSqlite, readSqliteFile, sqliteDialect } from '../dialects/sqlite.ts'
import { COMPANIONS, checkSqliteFile, copySqliteFile, foldLog, syncFile, temporaryName } from '../dialects/sqlite-copy.ts'
import { MIGRATIONS, migrate, readMigrations } from '../migrations/index.ts'
import { compareManifests, describeLibrary, type Manifest, readManifest, writeManifest } from './manifest.ts'

/** How a backup is written. */
export interface BackupOptions {
  /** Whether a file of this name may be replaced. Default: false. */
  readonly replaces?: boolean
  readonly now: Date
}

/**
 * Copies a library file to a backup while others write to it; the library is only read.
 * @throws AppError `conflict` when the backup exists, or is the library; `not_found` for a missing folder; `unavailable` for a damaged
 * library
 */
export async function backUpFile(path: string, target: string, options: BackupOptions): Promise<Manifest> {
  refuseTarget(target, options, path)
  let manifest: Manifest | null = null
  await explainDisk(target, () =>
    copySqliteFile(path, target, async (copy) => {
      manifest = await addManifest(copy, options.now)
      return true
    }),
  )
  if (!manifest) throw new AppError('internal', 'A backup without a manifest')
  return manifest
}

/**
 * Copies a library on a server to a backup file, as of one moment.
 * @throws AppError as {@link backUpFile}, and `unavailable` when the library is not up to date
 */
export async function backUpDatabase(from: OpenDatabase, target: string, options: BackupOptions): Promise<Manifest> {
  refuseTarget(target, options, null)
  const temporary = temporaryName(target)
  return await explainDisk(target, async () => {
    closeSync(openSync(temporary, 'wx', 0o600))
    try {
      await from.readSnapshot(async (db) => {
        const applied = await readMigrations(db, from.dialect)
        if (applied.size !== MIGRATIONS.length || MIGRATIONS.some(({ name }) => !applied.has(name))) {
          throw new AppError('unavailable', 'The library is from another version. Start the service with it once, then back up.')
        }
        const to = openSqlite(temporary)
        try {
          await migrate(to)
          await to.transact(removeCategories)
          await copyRows(db, from.dialect, to)
        } finally {
          await to.close()
        }
        const [said, found] = [
          await describeLibrary(db, from.dialect, ''),
          await readSqliteFile(temporary, (copy) => describeLibrary(copy, sqliteDialect, '')),
        ]
        const different = compareManifests(said, found)
        if (different.length > 0) throw new AppError('unavailable', `The copy differs from the library in: ${different.join(', ')}.`)
      })
      foldLog(temporary)
      const manifest = await addManifest(temporary, options.now)
      checkSqliteFile(temporary)
      syncFile(temporary)
      renameSync(temporary, target)
      syncFile(dirname(target))
      return manifest
    } finally {
      for (const suffix of ['', ...COMPANIONS]) rmSync(`${temporary}${suffix}`, { force: true })
    }
  })
}

async function addManifest(copy: string, now: Date): Promise<Manifest> {
  const manifest = await readSqliteFile(copy, (db) => describeLibrary(db, sqliteDialect, now.toISOString())).catch((error) => {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, `The library cannot be backed up. ${error.message}`, { cause: error })
  })
  const file = openSqlite(copy)
  try {
    await file.transact((db) => writeManifest(db, manifest))
  } finally {
    await file.close()
  }
  foldLog(copy)
  return manifest
}

function refuseTarget(target: string, { replaces = false }: BackupOptions, library: string | null): void {
  const folder = dirname(target)
  if (!existsSync(folder)) throw new AppError('not_found', `Folder ${folder} for the backup does not exist.`)
  const real = join(realpathSync(folder), basename(target))
  if (library !== null && existsSync(library)) {
    const file = realpathSync(library)
    if (['', ...COMPANIONS].some((suffix) => real === `${file}${suffix}`)) {
      throw new AppError('conflict', `${target} is the library itself. Use another name for the backup.`)
    }
  }
  if (existsSync(target) && !replaces) throw new AppError('conflict', `${target} exists. Use another name, or --force to replace it.`)
}

/** Names the file that could not be written, and why. */
async function explainDisk<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('unavailable', `The backup ${target} could not be written: ${reason}.`, { cause: error })
  }
}

/** The result of a check. */
export interface CheckedBackup {
  readonly found: Manifest
  /** The manifest; null for a file that another tool made, of which only the structure could be checked. */
  readonly said: Manifest | null
}

/**
 * Reads a whole backup and compares it with its manifest. A library copied by any tool is accepted.
 * @param name how messages call the file. Default: its path
 * @throws AppError `unavailable` when it is damaged, not a library, or of a newer version
 */
export async function checkBackup(path: string, name = path): Promise<CheckedBackup> {
  try {
    checkSqliteFile(path)
    return await readSqliteFile(path, async (db) => {
      const said = await readManifest(db, sqliteDialect)
      const found = await describeLibrary(db, sqliteDialect, said?.createdAt ?? '')
      const different = said ? compareManifests(said, found) : []
      if (different.length > 0) throw new AppError('unavailable', `It does not match its manifest in: ${different.join(', ')}.`)
      const faults = said ? null : await sqliteDialect.findFaults(db)
      const [fault] = [...(faults?.structure ?? []), ...(faults?.references ?? [])]
      if (fault !== undefined) throw new AppError('unavailable', `It is damaged: ${fault}.`)
      return { said, found }
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll(path, name).replace(/\.$/, '') : String(error)
    throw new AppError('unavailable', `${name} cannot be used as a backup: ${reason}.`, { cause: error })
  }
}
