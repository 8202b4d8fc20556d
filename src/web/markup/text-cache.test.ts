import { expect, it } from 'vitest'
import { createTextCache } from './text-cache.ts'

it('remembers what was made, null too, and forgets the least used first', async () => {
  const cache = createTextCache(10)
  const made: string[] = []
  const find = (key: string, text: string | null, isKept = true) =>
    cache.find([key], async () => {
      made.push(key)
      return { text, isKept }
    })
  await find('a', 'aaaa')
  await find('b', null)
  await find('a', 'aaaa')
  await find('b', null)
  expect(made).toEqual(['a', 'b'])
  await find('c', 'cccc')
  await find('a', 'aaaa')
  await find('d', 'dddd')
  made.length = 0
  await find('a', 'aaaa')
  await find('c', 'cccc')
  expect(made).toEqual(['c'])
  // What is good for now alone is made again.
  expect([await find('e', 'now', false), await find('e', 'e')]).toEqual([
    { text: 'now', isKept: false },
    { text: 'e', isKept: true },
  ])
})

it('tells parts apart', async () => {
  const cache = createTextCache(100)
  expect((await cache.find(['ab', 'c'], async () => ({ text: '1', isKept: true }))).text).toBe('1')
  expect((await cache.find(['a', 'bc'], async () => ({ text: '2', isKept: true }))).text).toBe('2')
})

it('makes a text once for all who ask meanwhile, also one that is not kept', async () => {
  const cache = createTextCache(100)
  let calls = 0
  const make = async () => ({ text: `made ${++calls}`, isKept: false })
  const both = await Promise.all([cache.find(['a'], make), cache.find(['a'], make)])
  expect(both.map(({ text }) => text)).toEqual(['made 1', 'made 1'])
  expect((await cache.find(['a'], make)).text).toBe('made 2')
})

it('gives a text that cannot be made to nobody', async () => {
  const cache = createTextCache(100)
  await expect(cache.find(['a'], () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect((await cache.find(['a'], async () => ({ text: 'a', isKept: true }))).text).toBe('a')
})
