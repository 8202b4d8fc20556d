import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { migrate } from '../../src/storage/migrations/index.ts'

let migrated: Promise<Buffer> | undefined

/** Writes an empty library to a file. Its migrations run once a process: they take six times as long as a copy. */
export async function writeEmptyLibrary(path: string): Promise<void> {
  migrated ??= migrateOnce()
  writeFileSync(path, await migrated)
}

async function migrateOnce(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-template-'))
  const path = join(folder, 'library.db')
  try {
    const database = openSqlite(path)
    await migrate(database)
    await database.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
