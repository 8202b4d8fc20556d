import { type Kysely, sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeRoom } from '../../src/storage/collections/places.ts'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { createStatementNames } from '../../src/storage/dialects/postgres-statements.ts'
import type { Database } from '../../src/storage/schema.ts'
import { createDatabase } from '../support/postgres.ts'

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

describe.each([
  ['alone', false],
  ['beside others', true],
])('a transaction that writes %s', (_, isConcurrent) => {
  it('does not read a whole table that was small when it was planned first', async () => {
    const { url, remove } = await createDatabase()
    onTestFinished(remove)
    const database = openPostgres(url, { readers: 1 })
    onTestFinished(() => database.close())
    // The server never learns by itself that this table has grown.
    await sql`create table grown (seq integer primary key, name text) with (autovacuum_enabled = false)`.execute(database.writer)
    await sql`insert into grown values (1, 'one')`.execute(database.writer)
    await sql`vacuum analyze grown`.execute(database.reader)
    const transact = <T>(work: (transaction: Kysely<Database>) => Promise<T>) => database.transact(work, { isConcurrent })
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
    const write = database.transact(
      async (db) => {
        await sql`insert into written values (1)`.execute(db)
        sql`select 1 / 0`.execute(db).catch(() => {})
      },
      { isConcurrent },
    )
    await expect(write).rejects.toThrow()
    expect((await sql`select seq from written`.execute(database.reader)).rows).toEqual([])
    await database.transact(async (db) => await sql`insert into written values (2)`.execute(db), { isConcurrent })
    expect((await sql`select seq from written`.execute(database.reader)).rows).toEqual([{ seq: 2 }])
  })
})

it('plans what deferred triggers run once, not for each row', async () => {
  const { url, remove } = await createDatabase()
  onTestFinished(remove)
  const database = openPostgres(url, { readers: 1 })
  onTestFinished(() => database.close())
  await sql`create table grown (mode text)`.execute(database.writer)
  await sql`create function note_mode() returns trigger language plpgsql as $$
    begin insert into grown values (current_setting('plan_cache_mode')); return null; end $$`.execute(database.writer)
  await sql`create table written (seq integer)`.execute(database.writer)
  await sql`create constraint trigger noted after insert on written deferrable initially deferred
    for each row execute function note_mode()`.execute(database.writer)
  for (const isConcurrent of [false, true]) {
    await database.transact(async (db) => await sql`insert into written values (1)`.execute(db), { isConcurrent })
  }
  await database.sideTransaction(async (db) => await sql`insert into written values (1)`.execute(db))
  const { rows } = await sql<{ mode: string }>`select mode from grown`.execute(database.reader)
  expect(rows.map(({ mode }) => mode)).toEqual(['force_generic_plan', 'force_generic_plan', 'force_generic_plan'])
})

it('numbers a large collection anew among many small ones without reading it again for each item', async () => {
  const { url, remove } = await createDatabase({ isEmpty: true })
  onTestFinished(remove)
  const database = openPostgres(url, { readers: 1 })
  onTestFinished(() => database.close())
  const [size, others] = [2_000, 20_000]
  await sql`create table collection_item (collection_seq integer, item_seq integer, position bigint, primary key (collection_seq, item_seq))`.execute(
    database.writer,
  )
  await sql`create index collection_item_position on collection_item (collection_seq, position)`.execute(database.writer)
  await sql`insert into collection_item
    select 1, n, ${sql.lit(Number.MAX_SAFE_INTEGER)} - ${sql.lit(size)} + n from generate_series(1, ${sql.lit(size)}) as n
    union all select 1 + n, 1, n from generate_series(1, ${sql.lit(others)}) as n`.execute(database.writer)
  await sql`vacuum analyze collection_item`.execute(database.reader)
  const read = await database.transact(
    async (db) => {
      expect(await makeRoom(db, 1, 'after', null, 1)).toHaveLength(1)
      const { rows } = await sql<{ n: string }>`
        select seq_tup_read + idx_tup_fetch as n from pg_stat_xact_user_tables where relname = 'collection_item'`.execute(db)
      return Number(rows[0]?.n)
    },
    { isConcurrent: true },
  )
  expect(read).toBeGreaterThan(size)
  expect(read).toBeLessThan(20 * size + others)
})

it('holds the lock of writers alone when it collided each time before', async () => {
  const { url, remove } = await createDatabase({ isEmpty: true })
  onTestFinished(remove)
  const database = openPostgres(url, { readers: 1 })
  onTestFinished(() => database.close())
  await sql`create table taken (name text primary key)`.execute(database.writer)
  await sql`insert into taken values ('wanted')`.execute(database.writer)
  const modes: string[] = []
  await database.transact(
    async (db) => {
      const { rows } = await sql<{ mode: string }>`
        select mode from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`.execute(db)
      modes.push(...rows.map(({ mode }) => mode))
      await sql`insert into taken values (${modes.length < 5 ? 'wanted' : 'free'})`.execute(db)
    },
    { isConcurrent: true },
  )
  expect(modes).toEqual([...Array.from({ length: 4 }, () => 'ShareLock'), 'ExclusiveLock'])
})
