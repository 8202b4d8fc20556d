import { AppError } from '../../errors.ts'
import type { OpenDatabase } from '../dialects/dialect.ts'
import { readOnly } from '../dialects/sqlite-copy.ts'
import { copyServer } from './library-file.ts'

/**
 * Copies a library to a file before its schema is changed. It replaces a copy of the same name from an interrupted upgrade. Another process
 * may have upgraded the library meanwhile: its own copy is kept, as this one would be of the upgraded library.
 * @param first number of the first migration that is pending
 * @throws AppError `unavailable` when no sound copy could be made; the library is as it was
 */
export async function copyBeforeUpgrade(database: OpenDatabase, target: string, first: string): Promise<void> {
  try {
    if (database.file) await database.file.copyTo(target, async (copy) => !hasMigration(copy, first))
    else await copyServer(database, target, first)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `The library was not upgraded, because it could not be copied to ${target} first: ${reason.replace(/\.$/, '')}. With BACKUP_BEFORE_UPGRADE=false no copy is made.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

function hasMigration(copy: string, number: string): boolean {
  return readOnly(copy, (database) => {
    if (!database.prepare("select 1 from sqlite_master where type = 'table' and name = 'migration'").get()) return false
    return database.prepare('select 1 from migration where name like ?').get(`${number}-%`) !== undefined
  })
}
