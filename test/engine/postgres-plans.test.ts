import { type Kysely, sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { createStatementNames } from '../../src/storage/dialects/postgres-statements.ts'
import type { Database } from '../../src/storage/schema.ts'
import { createDatabase, isOnPostgres } from '../support/postgres.ts'

const lookUp = sql`select name from grown where seq = ${1}`
/** More than the runs that the server plans one by one before it keeps a plan. */
const RUNS = 12
const ROWS = 20_000

/** The name that a connection gives a statement it runs often. */
function nameOf(text: string): string {
  const names = createStatementNames()
  const name = Array.from({ length: 3 }, () => names.nameOf(text)).at(-1)
  if (name === undefined) throw new Error('the statement has no name')
  return name
}

describe.runIf(isOnPostgres())('a transaction that writes', () => {
  it('does not read a whole table that was small when it was planned first', async () => {
    const { url, remove } = await createDatabase()
    onTestFinished(remove)
    const database = openPostgres(url, { readers: 1 })
    onTestFinished(() => database.close())
    // The server never learns by itself that this table has grown.
    await sql`create table grown (seq integer primary key, name text) with (autovacuum_enabled = false)`.execute(database.writer)
    await sql`insert into grown values (1, 'one')`.execute(database.writer)
    await sql`vacuum analyze grown`.execute(database.reader)
    const transact = <T>(work: (transaction: Kysely<Database>) => Promise<T>) => database.transact(work)
    await transact(async (transaction) => {
      for (let run = 0; run < RUNS; run++) await lookUp.execute(transaction)
    })
    await sql`insert into grown select n, 'more' from generate_series(2, ${sql.lit(ROWS)}) as n`.execute(database.writer)
    const plan = await transact(async (transaction) => {
      await lookUp.execute(transaction)
      const name = nameOf(lookUp.compile(transaction).sql)
      const { rows } = await sql<{ 'QUERY PLAN': string }>`explain execute ${sql.id(name)}(1)`.execute(transaction)
      return rows[0]?.['QUERY PLAN']
    })
    expect(plan).toMatch(/^Index Scan using grown_pkey/)
  })

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
