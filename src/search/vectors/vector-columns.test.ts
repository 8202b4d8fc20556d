import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createVectorColumns } from './vector-columns.ts'

const DIMS = 40
const anyVector = fc.array(fc.integer({ min: -127, max: 127 }), { minLength: DIMS, maxLength: DIMS }).map((all) => Int8Array.from(all))

describe('createVectorColumns', () => {
  it('compares with what was put last, in any order of slots', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 700 }), fc.option(anyVector))), anyVector, (puts, query) => {
        const columns = createVectorColumns()
        const model = new Map<number, Int8Array | null>()
        for (const [slot, vector] of puts) {
          columns.put(slot, vector)
          model.set(slot, vector && Math.hypot(...vector) > 0 ? vector : null)
        }
        const cosineOf = columns.compareWith(Float32Array.from(query))
        const distances = columns.compareSigns(Float32Array.from(query), 720)
        expect(distances[715]).toBe(DIMS)
        for (const [slot, vector] of model) {
          expect(columns.has(slot)).toBe(vector !== null)
          expect(columns.get(slot)).toEqual(vector)
          const product = vector ? query.reduce((sum, value, i) => sum + value * (vector[i] ?? 0), 0) : 0
          const lengths = vector ? Math.hypot(...vector) * (Math.hypot(...query) || 1) : 1
          expect(cosineOf(slot)).toBeCloseTo(product / lengths, 5)
          expect(distances[slot]).toBe(vector ? query.filter((value, i) => value > 0 !== (vector[i] ?? 0) > 0).length : DIMS)
        }
      }),
    )
  })

  it('knows nothing of slots beyond its end', () => {
    const columns = createVectorColumns()
    expect([columns.has(3), columns.get(3), columns.compareWith(new Float32Array(DIMS).fill(1))(3)]).toEqual([false, null, 0])
    columns.put(3, null)
    expect(columns.has(3)).toBe(false)
  })
})
