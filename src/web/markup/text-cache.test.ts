import { expect, it } from 'vitest'
import { createTextCache, type Made } from './text-cache.ts'

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

/** Work that ends when told, and counts how often it was begun. */
function slowWork() {
  const ends: ((made: Made) => void)[] = []
  const signals: AbortSignal[] = []
  const make = (signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<Made>((resolve) => ends.push(resolve))
  }
  return { make, signals, end: (text: string) => ends.shift()?.({ text, isKept: true }) }
}

it('makes a text once for all who ask meanwhile', async () => {
  const cache = createTextCache(100)
  const { make, signals, end } = slowWork()
  const both = Promise.all([cache.find(['a'], make), cache.find(['a'], make)])
  end('made')
  expect((await both).map(({ text }) => text)).toEqual(['made', 'made'])
  expect(signals.length).toBe(1)
  const alone = Promise.all([cache.find(['b'], make, { isShared: false }), cache.find(['b'], make)])
  expect(signals.length).toBe(3)
  end('own')
  end('other')
  expect((await alone).map(({ text }) => text)).toEqual(['own', 'other'])
})

it('ends the work when the last reader has left, and not before', async () => {
  const cache = createTextCache(100)
  const { make, signals, end } = slowWork()
  const [first, second] = [new AbortController(), new AbortController()]
  const one = cache.find(['a'], make, { signal: first.signal })
  const two = cache.find(['a'], make, { signal: second.signal })
  first.abort()
  expect(await one).toEqual({ text: null, isKept: false })
  expect(signals[0]?.aborted).toBe(false)
  second.abort()
  expect((await two).text).toBeNull()
  expect(signals[0]?.aborted).toBe(true)
  // Who comes next has it made anew.
  const third = cache.find(['a'], make)
  expect(signals.length).toBe(2)
  end('late')
  end('made')
  expect((await third).text).toBe('made')
  expect((await cache.find(['b'], make, { signal: first.signal })).text).toBeNull()
  expect(signals.length).toBe(2)
})
