import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countBits, hammingDistances, signWords, toSignBits } from './arithmetic.ts'
import { DIMS } from './word-vectors.ts'

describe('countBits', () => {
  it('counts as the binary digits do', () => {
    for (const bits of [0, 1, 0xffffffff, 0x80000000, 0x55555555, 0x7fffffff])
      expect(countBits(bits)).toBe(bits.toString(2).replaceAll('0', '').length)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (bits) => {
        expect(countBits(bits)).toBe(bits.toString(2).replaceAll('0', '').length)
        expect(countBits(bits | 0)).toBe(countBits(bits))
      }),
    )
  })
})

describe('hammingDistances', () => {
  it('counts the numbers of which one is above zero and the other is not', () => {
    const vector = fc
      .array(fc.integer({ min: -127, max: 127 }), { minLength: DIMS, maxLength: DIMS })
      .map((numbers) => Int8Array.from(numbers))
    fc.assert(
      fc.property(vector, vector, vector, (before, one, other) => {
        const all = new Uint32Array(2 * signWords(DIMS))
        all.set(toSignBits(before))
        all.set(toSignBits(one), signWords(DIMS))
        const distances = new Uint16Array(2)
        hammingDistances(all, toSignBits(other), distances)
        const differentFrom = (from: Int8Array) => from.filter((value, i) => value > 0 !== (other[i] ?? 0) > 0).length
        expect([...distances]).toEqual([before, one].map(differentFrom))
      }),
    )
  })
})
