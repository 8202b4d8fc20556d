import type { Kysely } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { touchItems } from '../../src/storage/change-log.ts'
import { copyLibrary } from '../../src/storage/copy/copy-library.ts'
import { digestTable, isNumbered, TABLES, tablesOf } from '../../src/storage/copy/table-rows.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { migrate } from '../../src/storage/migrations/index.ts'
import type { Database } from '../../src/storage/schema.ts'
import { createStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES, type Engine, EVERY_ENGINE } from '../support/engines.ts'
import { fillEveryTable } from '../support/every-table.ts'

const outside = { clock: Date.now, random: countingRandom() }
const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

/** A database of its own, closed and removed after the test. */
async function open(engine: Engine): Promise<OpenDatabase> {
  const place = await engine.create({ isEmpty: true })
  cleanUps.push(place.remove)
  const database = place.open()
  cleanUps.push(() => database.close())
  return database
}

const tablesIn = ({ reader, dialect }: OpenDatabase) => tablesOf('everything', reader, dialect)
const digestsOf = async (database: OpenDatabase) =>
  await Promise.all((await tablesIn(database)).map((table) => digestTable(database.reader, table)))

async function openFull(engine: Engine): Promise<OpenDatabase> {
  const database = await open(engine)
  await migrate(database)
  await fillEveryTable(database)
  return database
}

for (const engine of ENGINES) {
  describe(`every table on ${engine.name}`, () => {
    it('is one whose purpose is known', async () => {
      const database = await open(engine)
      await migrate(database)
      const there = (await database.reader.introspection.getTables()).map(({ name }) => name).filter((name) => !name.startsWith('sqlite_'))
      expect(there.toSorted()).toEqual([...Object.keys(TABLES), 'migration'].toSorted())
    })

    it('is filled by what the tests copy', async () => {
      const database = await openFull(engine)
      for (const table of await tablesIn(database))
        expect(await digestTable(database.reader, table), table.name).not.toMatchObject({ rows: 0 })
    })
  })

  // A server copies to and from a file.
  const others = EVERY_ENGINE.filter(({ name }) => name !== engine.name)
  const pairs =
    engine.name === 'sqlite'
      ? [[engine, engine]]
      : others.flatMap((other) => [
          [engine, other],
          [other, engine],
        ])
  for (const [source = engine, target = engine] of pairs) {
    describe(`a library copied from ${source.name} to ${target.name}`, () => {
      it('has every row as it was, and goes on numbering where the other was', async () => {
        const [from, to] = [await openFull(source), await open(target)]
        const { tables, fault } = await copyLibrary(from, to)
        expect(fault).toBeNull()
        expect(tables.map(({ name }) => name)).toEqual((await tablesIn(from)).map(({ name }) => name))
        for (const { name, from: read, to: copy } of tables) expect(copy, name).toEqual(read)
        for (const { name } of (await tablesIn(from)).filter(isNumbered)) {
          // That it was copied is the one thing the copy knows more.
          const more = name === 'audit_event' ? 1 : 0
          expect(await to.dialect.readIdentity(to.reader, name), name).toBe((await from.dialect.readIdentity(from.reader, name)) + more)
        }
        const insert = (database: OpenDatabase) =>
          database.transact((db) => db.insertInto('word').values({ word: 'new', stem: 'new' }).returning('seq').executeTakeFirstOrThrow())
        expect(await insert(to)).toEqual(await insert(from))
        const last = to.reader.selectFrom('audit_event').select(['action', 'actor_id', 'surface']).orderBy('seq', 'desc').limit(1)
        expect(await last.execute()).toEqual([{ action: 'library_copied', actor_id: null, surface: 'cli' }])
        expect(await to.reader.selectFrom('ended_session').select('id').execute()).toEqual([])
        // It can be opened now, and is not copied into again.
        await migrate(to)
        await expect(copyLibrary(from, to)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('not empty') })
      })

      it('is copied whole or not at all, and can be copied again', async () => {
        const [from, to] = [await openFull(source), await open(target)]
        const cutOff = copyLibrary(from, to, ({ table }) => {
          if (table === 'blob') throw new Error('cut off')
        })
        await expect(cutOff).rejects.toThrow('cut off')
        const left = await digestsOf(to)
        expect(left.filter(({ rows }) => rows > 0)).toHaveLength(1)
        await (await createStore(to, outside)).service.isEmpty()
        expect(await copyLibrary(from, to)).toMatchObject({ fault: null })
      })

      it('is no copy when the source was written to meanwhile', async () => {
        const changes = [
          [
            (db: Kysely<Database>): Promise<unknown> => db.updateTable('user').set({ bio: 'changed' }).where('seq', '=', 2).execute(),
            /differs from the source in: user\./,
          ],
          // Any write is in the log of changes.
          [(db: Kysely<Database>): Promise<unknown> => touchItems(db, [2]), /differs from the source in: change\./],
        ] as const
        for (const [change, fault] of changes) {
          const [from, to] = [await openFull(source), await open(target)]
          const report = await copyLibrary(from, to, async ({ table }) => {
            if (table === 'user') await from.transact(change)
          })
          expect(report.fault).toMatch(fault)
          // Nothing was copied.
          expect(await copyLibrary(from, to)).toMatchObject({ fault: null })
        }
      })
    })
  }

  it(`only a library is copied, and only into nothing: ${engine.name}`, async () => {
    const [from, empty] = [await openFull(engine), await open(engine)]
    await expect(copyLibrary(empty, await open(engine))).rejects.toMatchObject({ code: 'not_found' })
    await expect(copyLibrary(from, from)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('the same library') })
    const [full, before] = [await openFull(engine), await digestsOf(from)]
    await expect(copyLibrary(from, full)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('"user"') })
    expect(await digestsOf(from)).toEqual(before)
    await createStore(full, outside)
  })
}
