import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { createDatabase, isOnPostgres } from '../support/postgres.ts'

describe.runIf(isOnPostgres())('a transaction that writes', () => {
  it('is not committed when a statement failed whose answer nobody awaited', async () => {
    const { url, remove } = await createDatabase()
    onTestFinished(remove)
    const database = openPostgres(url, { readers: 1 })
    onTestFinished(() => database.close())
    await sql`create table written (seq integer)`.execute(database.writer)
    const write = database.transact(async (db) => {
      await sql`insert into written values (1)`.execute(db)
      sql`select 1 / 0`.execute(db).catch(() => {})
    })
    await expect(write).rejects.toThrow()
    expect((await sql`select seq from written`.execute(database.reader)).rows).toEqual([])
    await database.transact(async (db) => await sql`insert into written values (2)`.execute(db))
    expect((await sql`select seq from written`.execute(database.reader)).rows).toEqual([{ seq: 2 }])
  })
})
