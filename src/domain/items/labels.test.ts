import { describe, expect, it } from 'vitest'
import { labelName, labelRef, settableLabel, targetsField } from './labels.ts'

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
    expect(['0', '42', 'v2', '2.0'].map((name) => settableLabel.safeParse(name).success)).toEqual([false, false, true, true])
    expect([labelRef.safeParse('latest').success, labelName.safeParse('latest').success]).toEqual([true, false])
  })

  it('are shared by up to three versions whose weights sum to 100', () => {
    const of = (...weights: number[]) => targetsField.safeParse(weights.map((weight, index) => ({ version: index + 1, weight }))).success
    expect([of(100), of(90, 10), of(34, 33, 33)]).toEqual([true, true, true])
    expect([of(), of(50), of(90, 20), of(25, 25, 25, 25), of(100, 0), of(50.5, 49.5), of(-10, 110)]).not.toContain(true)
    expect(targetsField.safeParse([1, 1].map((version) => ({ version, weight: 50 }))).success).toBe(false)
  })
})
