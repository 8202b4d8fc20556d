import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openSqlite, readSqliteFile } from '../../src/storage/dialects/sqlite.ts'
import { sizeOfLog } from '../../src/storage/dialects/sqlite-statements.ts'
import { migrate } from '../../src/storage/migrations/index.ts'
import type { Database } from '../../src/storage/schema.ts'

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

it('waits for another process that is creating the file', async () => {
  const shared = join(folder, 'shared.db')
  // In a thread of its own, because opening blocks this one.
  const creator = new Worker(
    `const { DatabaseSync } = require('node:sqlite')
    const { parentPort, workerData } = require('node:worker_threads')
    const connection = new DatabaseSync(workerData)
    connection.exec('create table t (a); begin immediate')
    parentPort.postMessage('locked')
    // real time: opening blocks the thread that would tell when to close
    setTimeout(() => connection.close(), 200)`,
    { eval: true, workerData: shared },
  )
  await once(creator, 'message')
  const opened = openSqlite(shared)
  expect((await sql`pragma journal_mode`.execute(opened.writer)).rows).toEqual([{ journal_mode: 'wal' }])
  await opened.close()
})

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

describe('a large transaction', () => {
  const grow = (isLarge: boolean) =>
    database.transact((db) => sql`insert into blob (sha256, bytes) values (hex(randomblob(8)), randomblob(12000000))`.execute(db), {
      isLarge,
    })
  const readSetting = async (name: string) =>
    Object.values(Object((await sql`${sql.raw(`pragma ${name}`)}`.execute(database.writer)).rows[0]))
  beforeEach(() => migrate(database))

  it('leaves an empty log, and what it wrote in the file', async () => {
    await grow(true)
    expect(sizeOfLog(path)).toBe(0)
    const alone = `${path}.alone`
    copyFileSync(path, alone)
    expect(await readSqliteFile(alone, async (db) => (await db.selectFrom('blob').select('sha256').execute()).length)).toBe(1)
    expect(await readSetting('wal_autocheckpoint')).toEqual([4_000])
  })

  it('goes well while somebody reads, and the log is emptied after', async () => {
    const reading = new DatabaseSync(path, { readOnly: true })
    reading.exec('begin; select count(*) from blob')
    await grow(true)
    expect(sizeOfLog(path)).toBeGreaterThan(12_000_000)
    reading.close()
    await database.file?.emptyLog()
    expect(sizeOfLog(path)).toBe(0)
  })

  it('that fails leaves nothing, and the settings as they were', async () => {
    const failing = database.transact(
      async () => {
        throw new Error('no')
      },
      { isLarge: true },
    )
    await expect(failing).rejects.toThrow('no')
    expect(await readSetting('wal_autocheckpoint')).toEqual([4_000])
  })
})

it('gives the room of removed rows back to the file system', async () => {
  await migrate(database)
  await database.transact((db) => sql`insert into blob (sha256, bytes) values ('large', randomblob(12000000))`.execute(db))
  await database.file?.emptyLog()
  const before = statSync(path).size
  await database.transact((db) => db.deleteFrom('blob').execute())
  await database.file?.releaseRoom()
  await database.file?.emptyLog()
  expect(before).toBeGreaterThan(12_000_000)
  expect(statSync(path).size).toBeLessThan(1_000_000)
})

it('learns to give room back when a file of before is compacted', async () => {
  const old = join(folder, 'old.db')
  const file = new DatabaseSync(old)
  file.exec('create table migration_of_before (name text)')
  file.close()
  const opened = openSqlite(old)
  const mode = async () => (await sql`pragma auto_vacuum`.execute(opened.writer)).rows
  expect(await mode()).toEqual([{ auto_vacuum: 0 }])
  await opened.file?.releaseRoom()
  await opened.file?.compact()
  expect(await mode()).toEqual([{ auto_vacuum: 2 }])
  await opened.close()
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
