import { expect, it } from 'vitest'
import { createTextCache } from './text-cache.ts'

it('remembers what was made, null too, and forgets the least used first', async () => {
  const cache = createTextCache(10)
  const made: string[] = []
  const find = (key: string, text: string | null | undefined) =>
    cache.find([key], async () => {
      made.push(key)
      return text
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
  // For now there is nothing: asked again, it is made again.
  expect([await find('e', undefined), await find('e', 'e')]).toEqual([null, 'e'])
})

it('tells parts apart', async () => {
  const cache = createTextCache(100)
  expect(await cache.find(['ab', 'c'], async () => '1')).toBe('1')
  expect(await cache.find(['a', 'bc'], async () => '2')).toBe('2')
})
