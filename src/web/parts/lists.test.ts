import { expect, it } from 'vitest'
import { numbersAround } from './lists.tsx'

it.each([
  [1, 2, '1 2'],
  [4, 7, '1 2 3 4 5 6 7'],
  [1, 53, '1 2 3 4 5 … 53'],
  [4, 53, '1 2 3 4 5 6 … 53'],
  [5, 53, '1 2 3 4 5 6 7 … 53'],
  [6, 53, '1 … 4 5 6 7 8 … 53'],
  [49, 53, '1 … 47 48 49 50 51 52 53'],
  [53, 53, '1 … 49 50 51 52 53'],
])('page %i of %i: %s', (page, pages, shown) => {
  expect(
    numbersAround(page, pages)
      .map((number) => number ?? '…')
      .join(' '),
  ).toBe(shown)
})

it('leaves out two pages or more, and shows a bounded number of links', () => {
  for (let pages = 2; pages < 40; pages++) {
    for (let page = 1; page <= pages; page++) {
      const numbers = numbersAround(page, pages)
      expect(numbers).toContain(page)
      expect(numbers.length).toBeLessThanOrEqual(9)
      const known = numbers.filter((number) => number !== null)
      expect([known[0], known.at(-1), new Set(known).size]).toEqual([1, pages, known.length])
      for (const [place, number] of numbers.entries()) {
        if (number === null) expect((numbers[place + 1] ?? 0) - (numbers[place - 1] ?? 0)).toBeGreaterThan(2)
      }
    }
  }
})
