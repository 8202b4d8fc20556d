import { expect, it } from 'vitest'
import { EXIT_CODES, EXIT_STATUSES } from './exit-codes.ts'

it('explains every status an error ends with', () => {
  expect(Object.keys(EXIT_STATUSES).map(Number)).toEqual([...new Set([0, 1, ...Object.values(EXIT_CODES)])].toSorted((a, b) => a - b))
})
