import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Database } from '../schema.ts'
import type { OpenDatabase } from './dialect.ts'
import { openSqlite, readSqliteFile } from './sqlite.ts'

let folder: string
let path: string
let database: OpenDatabase
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-sqlite-'))
  path = join(folder, 'library.db')
  database = openSqlite(path)
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Temporary files of SQLite that this process holds open. They have no name any more, so only the kernel knows them. */
function openTemporaryFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`)
      return target.includes('etilqs_') ? [target] : []
    } catch {
      // Closed since it was listed.
      return []
    }
  })
}

it('keeps temporary data of every connection in memory', async () => {
  const readSetting = async (connection: Kysely<Database>) => (await sql`pragma temp_store`.execute(connection)).rows
  const found = [await readSetting(database.writer), await readSetting(database.reader), await readSqliteFile(path, readSetting)]
  expect(found).toEqual([[{ temp_store: 2 }], [{ temp_store: 2 }], [{ temp_store: 2 }]])
})

it.skipIf(process.platform !== 'linux')('needs no temporary file for a large change', async () => {
  await database.transact(async (db) => {
    await sql`create table page (name text not null unique, body text not null)`.execute(db)
    await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
      insert into page select 'page ' || i, hex(randomblob(1000)) from n`.execute(db)
  })
  await database.transact(async (db) => {
    // SQLite notes every page this statement changes, so that it can be undone by itself: past 64 KiB, in a file unless told otherwise.
    await sql`update page set name = name || '!', body = hex(randomblob(1000))`.execute(db)
    expect(openTemporaryFiles()).toEqual([])
  })
})
