import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'

const ENTRY = {
  name: 'a.csv, 1',
  title: 'Title',
  kind: 'prompt',
  body: '{"x":1}',
  outcome: 'created',
  remark: null,
  isDone: false,
  itemId: null,
} as const
const REFUSED = { ...ENTRY, title: null, kind: null, body: null, outcome: 'refused', remark: 'is blank', isDone: true } as const

describe.each(ENGINES)('imports on $name', (engine) => {
  let store: LibraryStore
  let ada: string
  let remove: () => Promise<void>
  let now = Date.UTC(2026, 0, 1)

  beforeEach(async () => {
    const made = await engine.create()
    remove = made.remove
    store = await createStore(made.open(), { clock: () => ++now, random: SYSTEM.random })
    ada = (await store.people.createUser({ username: 'ada', defaultVisibility: 'public' })).id
  })
  afterEach(async () => {
    await store.close()
    await remove()
  })
  const keep = (entries: Parameters<LibraryStore['imports']['keepImport']>[1]['entries']) =>
    store.imports.keepImport(ada, { visibility: 'unlisted', entries }, '')

  it('are read by their owner, a page at a time, by outcome too', async () => {
    const id = await keep([ENTRY, REFUSED, { ...ENTRY, outcome: 'updated' }, ENTRY])
    expect(await store.imports.findImport(ada, id, '')).toMatchObject({
      id,
      visibility: 'unlisted',
      total: 4,
      done: 1,
      counts: { created: 2, updated: 1, unchanged: 0, kept: 0, refused: 1 },
    })
    expect(await store.imports.findImport('somebody else', id, '')).toBeNull()
    expect(await store.imports.findImport(ada, id, '2030-01-01T00:00:00.000Z')).toBeNull()
    const { body: _, ...shown } = ENTRY
    expect(await store.imports.listImportEntries(id, { outcome: 'created', limit: 9, offset: 1 })).toEqual([{ number: 4, ...shown }])
    expect((await store.imports.listImportEntries(id, { outcome: null, limit: 2, offset: 1 })).map(({ number }) => number)).toEqual([2, 3])
  })

  it('go on where they stopped, and forget what is done', async () => {
    const id = await keep([ENTRY, REFUSED, { ...ENTRY, body: 'x'.repeat(100) }, ENTRY])
    const numbers = async (limit: number, length: number) =>
      (await store.imports.nextImportEntries(id, limit, length)).map(({ number }) => number)
    expect(await numbers(2, 1000)).toEqual([1, 3])
    expect(await numbers(9, 50)).toEqual([1])
    expect(await numbers(9, 1)).toEqual([1])
    expect((await store.imports.nextImportEntries(id, 1, 1))[0]?.body).toBe(ENTRY.body)
    await store.imports.finishImportEntries(id, [{ number: 1, outcome: 'created', remark: 'cut', itemId: 'the-item' }])
    expect(await numbers(9, 1000)).toEqual([3, 4])
    expect(await store.imports.findImport(ada, id, '')).toMatchObject({ total: 4, done: 2 })
    await expect(
      store.inTransaction(async (transaction) => {
        await transaction.imports.finishImportEntries(id, [{ number: 3, outcome: 'created', remark: null, itemId: 'other' }])
        throw new Error('killed')
      }),
    ).rejects.toThrow('killed')
    expect(await numbers(9, 1000)).toEqual([3, 4])
  })
})
