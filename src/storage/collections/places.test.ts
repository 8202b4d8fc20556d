import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { OpenDatabase } from '../dialects/dialect.ts'
import { openSqlite } from '../dialects/sqlite.ts'
import { makeRoom } from './places.ts'

const COLLECTION = 1

let folder: string
let database: OpenDatabase
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-places-'))
  database = openSqlite(join(folder, 'library.db'))
  await sql`create table collection_item (collection_seq integer, item_seq integer, position integer, primary key (collection_seq, item_seq))`.execute(
    database.writer,
  )
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A collection of items 1 to `count`, in that order, `gap` apart. */
async function openCollection(count: number, gap = 2 ** 32) {
  const { writer: db } = database
  await db.deleteFrom('collection_item').execute()
  await sql`with recursive n (n) as (select 1 union all select n + 1 from n where n < ${count})
    insert into collection_item select ${COLLECTION}, n, n * ${gap} from n`.execute(db)
  const rows = () => db.selectFrom('collection_item').selectAll().orderBy('position').orderBy('item_seq').execute()
  const insert = async (side: 'before' | 'after', beside: number | null, seqs: readonly number[]) => {
    const positions = await makeRoom(db, COLLECTION, side, beside, seqs.length)
    const values = seqs.map((item_seq, index) => ({ collection_seq: COLLECTION, item_seq, position: positions[index] ?? Number.NaN }))
    await db.insertInto('collection_item').values(values).execute()
  }
  return { rows, insert }
}

it('puts items anywhere and keeps the order', async () => {
  const step = fc.record({
    side: fc.constantFrom('before' as const, 'after' as const),
    at: fc.nat(),
    count: fc.integer({ min: 1, max: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom(1, 3, 2 ** 32),
      fc.array(step, { maxLength: 8 }),
      async (size, gap, steps) => {
        const { rows, insert } = await openCollection(size, gap)
        const order = (await rows()).map(({ item_seq }) => item_seq)
        for (const { side, at, count } of steps) {
          const index = at % (order.length + 1)
          const beside = order[index] ?? null
          const seqs = Array.from({ length: count }, (_, number) => order.length + number + 1)
          await insert(side, beside, seqs)
          const place = beside === null ? (side === 'before' ? 0 : order.length) : side === 'before' ? index : index + 1
          order.splice(place, 0, ...seqs)
          expect((await rows()).map(({ item_seq }) => item_seq)).toEqual(order)
        }
      },
    ),
  )
})
