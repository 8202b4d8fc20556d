import { expect, it } from 'vitest'
import { logOpening } from './serve.ts'

it('writes a line when a step begins, and one every five seconds of it', () => {
  const lines: string[] = []
  let now = 0
  const log = logOpening(
    ({ detail, done, of }, text) => lines.push(`${now} ${text} ${detail} ${done}/${of}`),
    () => now,
  )
  log({ step: 'migrating', detail: '0011-frozen-schema', done: 0, of: 1 })
  for (let done = 0; done < 100; done++) {
    log({ step: 'reading words', detail: null, done, of: 100 })
    now += 100
  }
  expect(lines).toEqual([
    '0 Upgrading the library 0011-frozen-schema 0/1',
    '0 Indexing items for search null 0/100',
    '5000 Indexing items for search null 50/100',
  ])
})
