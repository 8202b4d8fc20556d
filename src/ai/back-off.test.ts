import { expect, it } from 'vitest'
import { backOffMs } from './back-off.ts'

it('waits twice as long each time, up to a most', () => {
  expect([1, 2, 3, 4, 5, 1000].map((failures) => backOffMs(failures, 1000, 8000, 1))).toEqual([1000, 2000, 4000, 8000, 8000, 8000])
})

it('takes the half to the whole by chance', () => {
  expect([backOffMs(3, 1000, 60_000, 0), backOffMs(3, 1000, 60_000, 0.5)]).toEqual([2000, 3000])
})
