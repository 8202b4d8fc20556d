import { expect, it } from 'vitest'
import { parseDuration } from './operator.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

it.each([
  ['1h', HOUR_MS],
  ['36h', 36 * HOUR_MS],
  ['90d', 90 * DAY_MS],
  ['2w', 14 * DAY_MS],
  ['1y', 365 * DAY_MS],
  ['100y', 36_500 * DAY_MS],
  ['36500d', 36_500 * DAY_MS],
  [' 90d ', 90 * DAY_MS],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

it.each(['', '0d', '90', 'd', '-1d', '1.5d', '1 d', '1D', '1m', '1s', '101y', '36501d', '9999999h', '1d2h', 'forever', 'Infinityd', '１d'])(
  'refuses %j and names the flag',
  (text) => {
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining('--expires') }),
    )
  },
)
