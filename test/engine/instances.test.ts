import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LibraryChange } from '../../src/library/ports/instances.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'

/** What processes that share a database tell each other, and count together. */

for (const engine of ENGINES) {
  describe(`instances on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let stores: LibraryStore[]
    let now = Date.UTC(2026, 0, 1)
    const open = async (instance: string) => {
      const told: LibraryChange[] = []
      const store = await createStore(place.open(), {
        clock: () => now,
        random: countingRandom(),
        instance,
        onChange: (change) => told.push(change),
      })
      stores.push(store)
      return { store, told }
    }
    /** Waits until `isTrue`, for a few seconds at most. */
    const eventually = async (isTrue: () => boolean) => {
      for (const until = performance.now() + 5_000; !isTrue() && performance.now() < until; )
        await new Promise((resolve) => setTimeout(resolve, 5))
      expect(isTrue()).toBe(true)
    }
    const listen = (store: LibraryStore) => {
      const heard = { changes: [] as LibraryChange[], logins: 0, mail: [] as string[] }
      const stop = store.instances.listen({
        onChange: (change) => heard.changes.push(change),
        onLoginsChanged: () => heard.logins++,
        onMail: (body) => heard.mail.push(body),
      })
      return { heard, stop }
    }

    beforeEach(async () => {
      place = await engine.create()
      stores = []
    })
    afterEach(async () => {
      for (const store of stores) await store.close()
      await place.remove()
    })

    it('forget marks of transactions that another server made', async () => {
      const { store } = await open('one')
      const ada = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
      const database = place.open()
      const readMarks = async () => (await database.reader.selectFrom('read_mark').select('xid').execute()).map(({ xid }) => Number(xid))
      const own = await readMarks()
      const foreign = 4_000_000_000
      await database.transact((db) => db.insertInto('read_mark').values({ caller: ada.id, xid: foreign }).execute())
      await open('two')
      const left = await readMarks()
      expect(left).toEqual(expect.arrayContaining(own))
      // Only servers have replicas, so a file has no marks to forget.
      if (engine.name === 'postgresql') expect(left).not.toContain(foreign)
      await database.close()
    })

    it('count together, each stretch of time by itself, and forget what is over', async () => {
      const [{ store: one }, { store: two }] = [await open('one'), await open('two')]
      const end = new Date(now + 60_000).toISOString()
      expect(await one.instances.addPoints(end, new Map([['a', 3]]))).toEqual(new Map([['a', 3]]))
      const both = new Map([
        ['b', 1],
        ['a', 2],
      ])
      expect(await two.instances.addPoints(end, both)).toEqual(
        new Map([
          ['a', 5],
          ['b', 1],
        ]),
      )
      expect(await one.instances.addPoints(end, new Map([['a', -1]]))).toEqual(new Map([['a', 4]]))
      expect(await one.instances.addPoints(end, new Map())).toEqual(new Map())
      const later = new Date(now + 120_000).toISOString()
      expect(await one.instances.addPoints(later, new Map([['a', 1]]))).toEqual(new Map([['a', 1]]))
      // Many at once lose nothing.
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          stores[n % 2]?.instances.addPoints(
            later,
            new Map([
              ['a', 1],
              [`of ${n}`, 1],
            ]),
          ),
        ),
      )
      expect(await one.instances.addPoints(later, new Map([['a', 0]]))).toEqual(new Map([['a', 41]]))
      now += 2 * 3_600_000
      expect(await one.instances.addPoints(end, new Map([['a', 0]]))).toEqual(new Map([['a', 0]]))
    })

    it('tell each other what they changed, and themselves nothing', async () => {
      const [one, two] = [await open('one'), await open('two')]
      const [first, second] = [listen(one.store), listen(two.store)]
      const ada = await one.store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
      const fields = { title: 'T', content: 'x', description: null, category: null, tags: [], type: 'TEXT', visibility: 'public' } as const
      if (one.store.instances.isShared) {
        // Whoever begins to listen may have missed anything.
        await eventually(() => [first, second].every(({ heard }) => heard.changes.length === 2 && heard.logins === 1))
        await one.store.items.createPrompt({ userId: ada.id, note: null }, fields)
        await eventually(() => second.heard.changes.length === 3)
        expect(second.heard.changes[2]).toEqual({ kind: 'prompt', ownerId: ada.id, audience: 'everybody' })
        // More than a signal holds is told as anything.
        await one.store.inTransaction(async (store) => {
          for (let n = 0; n < 120; n++) {
            const user = await store.people.createUser({ username: `user-${n}`, defaultVisibility: 'private' })
            await store.items.createPrompt({ userId: user.id, note: null }, { ...fields, title: `T ${n}`, visibility: 'private' })
          }
        })
        await eventually(() => second.heard.changes.length === 5)
        expect(second.heard.changes.slice(3).map((change) => [change.kind, change.audience])).toEqual([
          ['prompt', 'everybody'],
          ['skill', 'everybody'],
        ])
        await one.store.instances.tellLoginsChanged()
        await eventually(() => second.heard.logins === 2)
        expect([first.heard.changes.length, first.heard.logins]).toEqual([2, 1])
      } else {
        await one.store.items.createPrompt({ userId: ada.id, note: null }, fields)
        await one.store.instances.tellLoginsChanged()
        expect([second.heard.changes, second.heard.logins]).toEqual([[], 0])
      }
      expect(one.told.length).toBeGreaterThan(0)
      expect(two.told).toEqual([])
      await Promise.all([first.stop(), second.stop()])
    })

    it('know at once in each that sessions ended, whether they hear of it or not', async () => {
      const [{ store: one }, { store: two }] = [await open('one'), await open('two')]
      const read = () => Promise.all([one, two].map(({ instances }) => instances.readLoginsRevision()))
      const seen = [await read()]
      for (const { instances } of [one, two, one]) {
        await instances.tellLoginsChanged()
        seen.push(await read())
      }
      for (const [here, there] of seen) expect(here).toBe(there)
      expect(new Set(seen.flat()).size).toBe(4)
    })

    it('leave messages for one of them, each read once and in order', async () => {
      const [{ store: one }, { store: two }, { store: three }] = [await open('one'), await open('two'), await open('three')]
      // One that does not listen yet misses nothing.
      const texts = Array.from({ length: 50 }, (_, n) => `message ${n} ${'x'.repeat(n * 500)}`)
      for (const text of texts.slice(0, 20)) await one.instances.sendMail('two', text)
      const [second, third] = [listen(two), listen(three)]
      for (const text of texts.slice(20)) await one.instances.sendMail('two', text)
      if (one.instances.isShared) {
        await eventually(() => second.heard.mail.length >= texts.length)
        expect(second.heard.mail).toEqual(texts)
        // What nobody reads goes.
        await one.instances.sendMail('nobody', 'x')
        now += 2 * 3_600_000
        await one.instances.addPoints(new Date(now).toISOString(), new Map())
        const database = place.open()
        expect(await database.reader.selectFrom('instance_mail').selectAll().execute()).toEqual([])
        await database.close()
      }
      expect(third.heard.mail).toEqual([])
      await Promise.all([second.stop(), third.stop()])
    })
  })
}
