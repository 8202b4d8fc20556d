import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { splitCounts, type UseCount } from '../../src/domain/people/usage.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'

const FIELDS = { title: 'T', content: 'C', description: null, category: null, tags: [], type: 'TEXT', visibility: 'public' } as const
const of = (more: Partial<UseCount>): UseCount => ({
  kind: 'read',
  surface: 'mcp',
  itemId: null,
  version: null,
  keyId: null,
  count: 1,
  ...more,
})

describe.each(ENGINES)('counts of uses on $name', (engine) => {
  let place: Awaited<ReturnType<typeof engine.create>>
  let store: LibraryStore
  const open = () => createStore(place.open(), { clock: () => Date.UTC(2026, 0, 5), random: countingRandom() })
  beforeEach(async () => {
    place = await engine.create()
    store = await open()
  })
  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  const makeTargets = async () => {
    const { id: userId } = await store.people.createUser({ username: 'owner', defaultVisibility: 'private' })
    const save = async () => (await store.items.createItem({ userId, note: null }, { kind: 'prompt', ...FIELDS })).id
    const key = await store.keys.createKey({ name: 'k', userId, sha256: 'x', scopes: ['read'], expiresAt: null })
    return { one: await save(), other: await save(), key: key.id }
  }

  it('add up, day by day, also of instances that write at once', async () => {
    const items = await makeTargets()
    const other = await open()
    const uses = splitCounts(
      Array.from({ length: 700 }, (_, n) =>
        of({ itemId: n === 1 ? items.one : items.other, version: n, keyId: n % 2 === 0 ? items.key : null }),
      ),
    )
    await Promise.all([store, other, store, other].map((each) => each.usage.addUses('2026-01-02', uses)))
    await store.usage.addUses('2026-01-03', splitCounts([of({ itemId: items.one, version: 2, count: 5 })]))
    await other.close()
    expect(await store.usage.listUses('2026-01-02')).toEqual([
      { day: '2026-01-02', kind: 'read', surface: 'mcp', count: 2800 },
      { day: '2026-01-03', kind: 'read', surface: 'mcp', count: 5 },
    ])
    expect((await store.usage.listItemUses(items.other, '2026-01-01')).map(({ count }) => count)).toEqual([2796])
    expect((await store.usage.listItemUses(items.one, '2026-01-01')).map(({ count }) => count)).toEqual([4, 5])
    expect(await store.usage.listKeyUses([items.key, 'none'], '2026-01-01')).toEqual([
      { day: '2026-01-02', kind: 'read', surface: 'mcp', count: 1400, keyId: items.key },
    ])
    expect(await store.usage.listKeyUses([], '2026-01-01')).toEqual([])
    expect(await store.usage.listUses('2026-01-04')).toEqual([])
  })

  it('raise no revision', async () => {
    const { one } = await makeTargets()
    const before = await store.service.readRevision('library')
    await store.usage.addUses('2026-01-02', [of({}), of({ itemId: one })])
    await store.usage.removeUses({ details: '2027', totals: '2027' })
    expect(await store.service.readRevision('library')).toBe(before)
  })

  it('go with age: those of items and keys before the totals', async () => {
    const { one, key } = await makeTargets()
    for (const day of ['2025-01-01', '2025-11-01', '2026-01-01']) {
      await store.usage.addUses(day, splitCounts([of({ itemId: one, version: 1, keyId: key })]))
    }
    expect(await store.usage.removeUses({ details: '2025-12-01', totals: '2025-02-01' })).toBe(5)
    const days = (uses: readonly { day: string }[]) => uses.map(({ day }) => day)
    expect(days(await store.usage.listUses('2000'))).toEqual(['2025-11-01', '2026-01-01'])
    expect(days(await store.usage.listItemUses(one, '2000'))).toEqual(['2026-01-01'])
    expect(days(await store.usage.listKeyUses([key], '2000'))).toEqual(['2026-01-01'])
  })

  it('go with the person and what they own', async () => {
    const { id: userId } = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
    const item = await store.items.createItem({ userId, note: null }, { kind: 'prompt', ...FIELDS })
    const key = await store.keys.createKey({ name: 'k', userId, sha256: 'x', scopes: ['read'], expiresAt: null })
    await store.usage.addUses('2026-01-02', splitCounts([of({ itemId: item.id, version: 1, keyId: key.id })]))
    expect(await store.usage.countNewItems('2026-01-05')).toEqual([{ day: '2026-01-05', count: 1 }])
    expect(await store.usage.countNewItems('2026-01-06')).toEqual([])
    await store.people.deletePerson(userId)
    expect(await store.usage.listItemUses(item.id, '2000')).toEqual([])
    expect(await store.usage.listKeyUses([key.id], '2000')).toEqual([])
    expect(await store.usage.listUses('2000')).toHaveLength(1)
  })

  it('do not come back with what was counted before a purge and is written after it', async () => {
    const { one, other, key } = await makeTargets()
    const counted = splitCounts([of({ itemId: one, version: 1, keyId: key }), of({ itemId: other, version: 1, keyId: 'gone' })])
    await store.purges.purgeItem('prompt', one, '', () => true)
    await store.usage.addUses('2026-01-02', counted)
    expect(await store.usage.listItemUses(one, '2000')).toEqual([])
    expect(await store.usage.listKeyUses(['gone'], '2000')).toEqual([])
    expect((await store.usage.listItemUses(other, '2000')).map(({ count }) => count)).toEqual([1])
    expect((await store.usage.listKeyUses([key], '2000')).map(({ count }) => count)).toEqual([1])
    // The totals, which name nothing, hold all of it.
    expect((await store.usage.listUses('2000')).map(({ count }) => count)).toEqual([2])
  })
})
