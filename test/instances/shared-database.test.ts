import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LibraryChange } from '../../src/domain/items/changes.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom } from '../support/engines.ts'
import { createDatabase } from '../support/postgres.ts'

/** What processes that share a database number, count and tell each other. */

const PROMPT = { title: 'T', content: 'x', description: null, category: null, tags: [], type: 'TEXT', visibility: 'public' } as const

describe('stores of one database', () => {
  let place: Awaited<ReturnType<typeof createDatabase>>
  let databases: OpenDatabase[]
  let one: LibraryStore
  let two: LibraryStore
  let by: { userId: string; note: null }
  let now: number
  const told: LibraryChange[] = []
  const random = countingRandom()
  const open = async (instance: string, onChange: (change: LibraryChange) => void = () => {}) => {
    const database = openPostgres(place.url, { readers: 2 })
    databases.push(database)
    return await createStore(database, { clock: () => now, random, instance, onChange })
  }
  const listen = (store: LibraryStore) => {
    const heard: LibraryChange[] = []
    return { heard, stop: store.instances.listen((change) => heard.push(change)) }
  }

  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1)
    databases = []
    told.length = 0
    place = await createDatabase()
    one = await open('one', (change) => told.push(change))
    two = await open('two')
    by = { userId: (await one.people.createUser({ username: 'ada', defaultVisibility: 'private' })).id, note: null }
  })
  afterEach(async () => {
    await one.close()
    await two.close()
    await place.remove()
  })

  it('number changes in the order of their commits', async () => {
    const reader = databases[1]?.reader
    if (!reader) throw new Error('no second instance')
    const readAfter = async (revision: number) => {
      const rows = await reader.selectFrom('change').select('seq').where('seq', '>', revision).orderBy('seq').execute()
      return rows.map((row) => row.seq)
    }
    let isOver = false
    const watching = (async () => {
      const seen: number[] = []
      // Each read asks for what is above all it has seen, as indexes and caches do.
      while (!isOver) seen.push(...(await readAfter(seen.at(-1) ?? 0)))
      return [...seen, ...(await readAfter(seen.at(-1) ?? 0))]
    })()
    const everywhere = <T>(times: number, work: (store: LibraryStore, index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: times }, (_, index) => work(index % 2 === 0 ? one : two, index)))
    const items = await everywhere(10, (store, index) => store.items.createItem(by, { kind: 'prompt', ...PROMPT, title: `Title ${index}` }))
    for (let round = 0; round < 2; round++) {
      await everywhere(20, (store, index) => {
        const content = `Round ${round}, writer ${index}, words of their own: ${'ab'[round]}${index}zz.`
        return store.items.changeItem('prompt', items[(index * 7 + round) % items.length]?.id ?? '', by, () => ({
          content,
          tags: [`t${index % 2}`],
        }))
      })
    }
    isOver = true
    const seen = new Set(await watching)
    const all = await readAfter(0)
    expect(all.length).toBeGreaterThan(0)
    // Nothing appeared below what had been read.
    expect(all.filter((revision) => !seen.has(revision))).toEqual([])
  })

  it('count together, each stretch of time by itself, and forget what is over', async () => {
    const end = new Date(now + 60_000).toISOString()
    const add = async (store: LibraryStore, points: Record<string, number>, at = end) =>
      Object.fromEntries(await store.instances.addPoints(at, new Map(Object.entries(points))))
    expect(await add(one, { a: 3 })).toEqual({ a: 3 })
    expect(await add(two, { b: 1, a: 2 })).toEqual({ a: 5, b: 1 })
    expect(await add(one, { a: -1 })).toEqual({ a: 4 })
    const later = new Date(now + 120_000).toISOString()
    // Many at once lose nothing.
    await Promise.all(Array.from({ length: 12 }, (_, n) => add(n % 2 === 0 ? one : two, { a: 1, [`of ${n}`]: 1 }, later)))
    expect(await add(one, { a: 0 }, later)).toEqual({ a: 12 })
    now += 2 * 3_600_000
    expect(await add(one, { a: 0 })).toEqual({ a: 0 })
  })

  it('tell each other what they changed, and themselves nothing', async () => {
    const [first, second] = [listen(one), listen(two)]
    // Whoever begins to listen may have missed anything.
    await expect.poll(() => [first, second].map(({ heard }) => heard.length)).toEqual([2, 2])
    await one.items.createItem(by, { kind: 'prompt', ...PROMPT })
    await expect.poll(() => second.heard[2]).toEqual({ kind: 'prompt', ownerId: by.userId, audience: 'everybody' })
    // More than a signal holds is told as anything.
    await one.inTransaction(async (store) => {
      for (let n = 0; n < 120; n++) {
        const user = await store.people.createUser({ username: `user-${n}`, defaultVisibility: 'private' })
        await store.items.createItem({ userId: user.id, note: null }, { kind: 'prompt', ...PROMPT, title: `T ${n}`, visibility: 'private' })
      }
    })
    await expect
      .poll(() => second.heard.slice(3).map(({ kind, audience }) => [kind, audience]))
      .toEqual([
        ['prompt', 'everybody'],
        ['skill', 'everybody'],
      ])
    expect([first.heard.length, told.length > 0]).toEqual([2, true])
    await Promise.all([first.stop(), second.stop()])
  })
})
