import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSlotMap } from './slot-map.ts'

describe('createSlotMap', () => {
  it('holds what was set last and was not deleted, wherever the row numbers are', () => {
    const seq = fc.oneof(fc.nat({ max: 30 }), fc.constantFrom(4095, 4096, 4097, 10_000, 2 ** 33, 2 ** 33 + 1))
    const step = fc.tuple(seq, fc.option(fc.nat({ max: 2 ** 24 - 1 })))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const map = createSlotMap()
        const model = new Map<number, number>()
        for (const [at, slot] of steps) {
          if (slot === null) {
            map.delete(at)
            model.delete(at)
          } else {
            map.set(at, slot)
            model.set(at, slot)
          }
        }
        expect(map.size).toBe(model.size)
        for (const [at] of steps) expect(map.get(at)).toBe(model.get(at))
        expect(map.slots()).toEqual([...model].sort(([a], [b]) => a - b).map(([, slot]) => slot))
      }),
    )
    expect(createSlotMap().get(-1)).toBeUndefined()
  })
})
