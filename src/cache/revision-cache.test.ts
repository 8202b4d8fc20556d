import { expect, test } from 'vitest'
import { createRevisionCaches } from './revision-cache.ts'

test('everything is forgotten when the library changes, and nothing read before is kept after', async () => {
  let version = 1
  const caches = createRevisionCaches(async () => version)
  const [texts, numbers] = [caches.create<string>('some', 10), caches.create<number>('some', 10)]
  const before = await caches.refresh()
  texts.put(before, 'a', 'A', 1)
  numbers.put(before, 'a', 1, 1)
  await caches.refresh()
  expect([texts.get('a'), numbers.get('a'), texts.get('b')]).toEqual(['A', 1, undefined])

  version = 2
  const after = await caches.refresh()
  texts.put(before, 'a', 'read before the change', 1)
  expect([texts.get('a'), numbers.get('a')]).toEqual([undefined, undefined])
  texts.put(after, 'a', 'B', 1)
  expect(texts.get('a')).toBe('B')
})

test('what was used longest ago makes room, and what is too heavy is not kept', async () => {
  const caches = createRevisionCaches(async () => 1)
  const texts = caches.create<string>('some', 10)
  const state = await caches.refresh()
  for (const key of ['a', 'b']) texts.put(state, key, key, 4)
  texts.get('a')
  texts.put(state, 'c', 'c', 4)
  texts.put(state, 'd', 'd', 11)
  expect(['a', 'b', 'c', 'd'].map((key) => texts.get(key))).toEqual(['a', undefined, 'c', undefined])
  texts.put(state, 'a', 'again', 1)
  texts.put(state, 'e', 'e', 5)
  expect(['a', 'c', 'e'].map((key) => texts.get(key))).toEqual(['again', 'c', 'e'])
})
