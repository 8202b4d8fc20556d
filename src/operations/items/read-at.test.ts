import { expect, it } from 'vitest'
import { chooseVersion } from './read-at.ts'

it('labels give each caller one version, in shares, and a raised share only draws callers in', () => {
  const shares = (weight: number) => [
    { version: 1, weight: 100 - weight },
    { version: 2, weight },
  ]
  const choose = (weight: number, n: number) => chooseVersion(shares(weight), 'a key', 'item production', `caller ${n}`)
  const callers = Array.from({ length: 10_000 }, (_, n) => n)
  const few = callers.filter((n) => choose(10, n) === 2)
  const half = new Set(callers.filter((n) => choose(50, n) === 2))
  expect(Math.abs(few.length / 100 - 10)).toBeLessThan(1)
  expect(Math.abs(half.size / 100 - 50)).toBeLessThan(1.5)
  expect(few.filter((n) => !half.has(n))).toEqual([])
  // Each label draws its own buckets; the order of targets does not matter.
  expect(few.every((n) => chooseVersion(shares(10), 'a key', 'other production', `caller ${n}`) === 2)).toBe(false)
  for (const n of callers.slice(0, 100)) {
    expect(chooseVersion(shares(10).toReversed(), 'a key', 'item production', `caller ${n}`)).toBe(choose(10, n))
  }
  expect([chooseVersion(shares(10), 'k', 'l', null), chooseVersion(shares(60), 'k', 'l', null)]).toEqual([1, 2])
})
