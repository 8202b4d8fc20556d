import { mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../migrations/index.ts'
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

describe('a library that cannot be written to', () => {
  const grow = () =>
    database.transact((db) => sql`insert into blob (sha256, bytes) values (hex(randomblob(8)), randomblob(1000000))`.execute(db))
  const setMaxPages = (pages: number) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(database.writer)
  beforeEach(() => migrate(database))

  it('for want of room says so, is not ready, and is again when there is room', async () => {
    await setMaxPages(1)
    await expect(grow()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('its disk is full') })
    await setMaxPages(1_000_000)
    await sql`pragma query_only = on`.execute(database.writer)
    await expect(database.check()).rejects.toMatchObject({ message: expect.stringContaining('read-only') })
    await sql`pragma query_only = off`.execute(database.writer)
    await database.check()
    await grow()
  })

  it('because it was moved acknowledges nothing, and is used again when it is back', async () => {
    renameSync(path, `${path}.elsewhere`)
    await expect(grow()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('moved or deleted') })
    await expect(database.check()).rejects.toMatchObject({ message: expect.stringContaining('moved or deleted') })
    renameSync(`${path}.elsewhere`, path)
    await grow()
    await database.check()
  })
})
