import { expect, test } from 'vitest'
import { createChangeCaches } from './change-caches.ts'

/** A log that a test writes. `what` is the value that a change touches. */
function createLog() {
  const log: { revision: number; what: string }[] = []
  let isTrimmed = false
  const caches = createChangeCaches<{ revision: number; what: string }>({
    readRevision: async () => log.length,
    readChanges: async (after) => ({ changes: isTrimmed ? null : log.slice(after), revision: log.length }),
  })
  const texts = caches.create<string>('texts', 100, (text, { what }) => text === what)
  return {
    caches,
    texts,
    change: (what: string) => log.push({ revision: log.length + 1, what }),
    trim: () => {
      isTrimmed = true
    },
    restore: () => {
      log.length = 0
    },
  }
}

test('a change drops what it touches and nothing else, also what was read before it and put after it', async () => {
  const { caches, texts, change } = createLog()
  const before = await caches.refresh()
  texts.put(before, 'a', 'A')
  texts.put(before, 'b', 'B')
  change('A')
  await caches.refresh()
  expect([texts.get('a'), texts.get('b')]).toEqual([undefined, 'B'])
  texts.put(before, 'a', 'A')
  texts.put(before, 'c', 'C')
  expect([texts.get('a'), texts.get('c')]).toEqual([undefined, 'C'])
  expect(caches.readUse()).toEqual([{ name: 'texts', hits: 2, misses: 2 }])
})

test('everything is dropped when changes are not known, or a library of fewer changes is there', async () => {
  for (const lose of ['trim', 'restore'] as const) {
    const log = createLog()
    log.change('x')
    log.change('x')
    const before = await log.caches.refresh()
    log.texts.put(before, 'a', 'A')
    await log.caches.refresh()
    expect(log.texts.get('a')).toBe('A')
    log[lose]()
    log.change('x')
    await log.caches.refresh()
    log.texts.put(before, 'b', 'B')
    expect([log.texts.get('a'), log.texts.get('b')]).toEqual([undefined, undefined])
  }
})
