import { describe, expect, it } from 'vitest'
import { chooseVersion, labelName, labelRef, targetsField } from './labels.ts'

describe('labels', () => {
  it('have names that Git and addresses take', () => {
    for (const name of ['production', 'v1.2', 'a_b-c', 'x'.repeat(36), '0']) expect(labelName.safeParse(name).success, name).toBe(true)
    for (const name of [
      '',
      'Production',
      'a b',
      'x'.repeat(37),
      '.a',
      '-a',
      'a.',
      'a..b',
      'a.lock',
      'main',
      'master',
      'head',
      'ä',
      'a/b',
    ]) {
      expect(labelRef.safeParse(name).success, name).toBe(false)
    }
    expect([labelRef.safeParse('latest').success, labelName.safeParse('latest').success]).toEqual([true, false])
  })

  it('are shared by up to three versions whose weights sum to 100', () => {
    const of = (...weights: number[]) => targetsField.safeParse(weights.map((weight, index) => ({ version: index + 1, weight }))).success
    expect([of(100), of(90, 10), of(34, 33, 33)]).toEqual([true, true, true])
    expect([of(), of(50), of(90, 20), of(25, 25, 25, 25), of(100, 0), of(50.5, 49.5), of(-10, 110)]).not.toContain(true)
    expect(targetsField.safeParse([1, 1].map((version) => ({ version, weight: 50 }))).success).toBe(false)
  })

  it('give each caller one version, in shares, and a raised share only draws callers in', () => {
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
    // Another label draws others, and the order of the targets says nothing.
    expect(few.every((n) => chooseVersion(shares(10), 'a key', 'other production', `caller ${n}`) === 2)).toBe(false)
    for (const n of callers.slice(0, 100)) {
      expect(chooseVersion(shares(10).toReversed(), 'a key', 'item production', `caller ${n}`)).toBe(choose(10, n))
    }
    expect([chooseVersion(shares(10), 'k', 'l', null), chooseVersion(shares(60), 'k', 'l', null)]).toEqual([1, 2])
  })
})
