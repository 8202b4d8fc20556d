import { expect, it } from 'vitest'
import { createTally } from './running-work.ts'

it('counts each name for itself, on and off again, each once', () => {
  const tally = createTally()
  const first = tally.add('a')
  const second = tally.add('a')
  tally.add('b')
  expect([tally.of('a'), tally.of('b'), tally.of('c')]).toEqual([2, 1, 0])
  first()
  first()
  expect(tally.of('a')).toBe(1)
  second()
  expect([tally.of('a'), tally.of('b')]).toEqual([0, 1])
})
