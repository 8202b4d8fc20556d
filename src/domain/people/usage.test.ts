import { describe, expect, it } from 'vitest'
import { collectUses, countFor, createUseCounter, lastDays, splitCounts, type Use } from './usage.ts'

const use = (more: Partial<Use>): Use => ({ kind: 'read', surface: 'mcp', itemId: null, version: null, keyId: null, ...more })

describe('createUseCounter', () => {
  it('counts equal uses together, and begins anew when they are taken', () => {
    const counter = createUseCounter()
    counter.add(use({ itemId: 'a', version: 1 }))
    counter.add(use({ itemId: 'a', version: 1 }), 2)
    counter.add(use({ itemId: 'a', version: 2 }))
    expect(counter.take()).toEqual([
      { ...use({ itemId: 'a', version: 1 }), count: 3 },
      { ...use({ itemId: 'a', version: 2 }), count: 1 },
    ])
    expect(counter.take()).toEqual([])
  })

  it('counts in the totals alone what is beyond its bound', () => {
    const counter = createUseCounter(2)
    for (let item = 0; item < 100; item++) counter.add(use({ itemId: `${item}`, keyId: 'k' }))
    const taken = counter.take()
    expect(taken.map(({ itemId }) => itemId)).toEqual(['0', '1', null])
    expect(taken.reduce((sum, { count }) => sum + count, 0)).toBe(100)
  })
})

describe('countFor', () => {
  const counted = (entry: Parameters<typeof countFor>[1], userId: string | null, ...note: Parameters<ReturnType<typeof countFor>>) => {
    const counter = createUseCounter()
    countFor(counter, entry, { userId, keyId: null })(...note)
    return counter.take().map(({ kind }) => kind)
  }
  const web = { surface: 'web', reads: 'view', hasCalls: false } as const
  const mcp = { surface: 'mcp', reads: 'read', hasCalls: true } as const

  it('leaves out calls of pages, and views by the owner', () => {
    const item = { id: 'a', version: 1, ownerId: 'ada' }
    expect(counted(web, 'ada', 'read', item)).toEqual([])
    expect(counted(web, 'bob', 'read', item)).toEqual(['view'])
    expect(counted(web, null, 'read', { id: 'a' })).toEqual(['view'])
    expect(counted(web, 'bob', 'call')).toEqual([])
    expect(counted(mcp, 'ada', 'read', item)).toEqual(['read'])
    expect(counted(mcp, 'ada', 'call')).toEqual(['call'])
  })
})

describe('splitCounts', () => {
  it('keeps totals, items and keys apart: no row has an item and a key', () => {
    const rows = splitCounts([
      { ...use({ itemId: 'a', version: 1, keyId: 'k' }), count: 2 },
      { ...use({ itemId: 'b', version: 4, keyId: 'k' }), count: 3 },
    ])
    expect(rows).toEqual([
      { ...use({}), count: 5 },
      { ...use({ itemId: 'a', version: 1 }), count: 2 },
      { ...use({ keyId: 'k' }), count: 5 },
      { ...use({ itemId: 'b', version: 4 }), count: 3 },
    ])
  })
})

describe('collectUses', () => {
  it('counts an item once', () => {
    const page = collectUses()
    for (const id of ['a', 'a', 'b']) page.count('read', { id })
    expect(page.notes()).toEqual([
      ['read', { id: 'a' }],
      ['read', { id: 'b' }],
    ])
  })
})

it('lastDays ends with today, over the end of a month', () => {
  expect(lastDays(Date.UTC(2026, 2, 1, 23, 59), 3)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
})
