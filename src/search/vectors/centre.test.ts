import { describe, expect, it } from 'vitest'
import { createCentre } from './arithmetic.ts'
import { createVectorColumns } from './vector-columns.ts'

const DIMS = 48

/** A vector that shares most with all others, and has an axis of its own. */
function make(axis: number, share = 1): Int8Array {
  const vector = new Float32Array(DIMS).fill(0)
  vector[0] = 1.5
  vector[1] = -0.5
  vector[2 + (axis % (DIMS - 2))] = share
  return Int8Array.from(vector, (value) => Math.round(value * 80))
}
function toUnit(vector: Int8Array): Float32Array {
  const length = Math.hypot(...vector)
  return Float32Array.from(vector, (value) => value / length)
}

function fill(count: number) {
  const columns = createVectorColumns({ centre: createCentre() })
  for (let slot = 0; slot < count; slot++) columns.put(slot, make(slot))
  return columns
}

describe('vectors with a centre', () => {
  it('lose what all share: unrelated texts come near 0, the same text stays at 1', () => {
    // As the provider has it.
    const [a, b] = [toUnit(make(3)), toUnit(make(20))]
    expect(a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)).toBeGreaterThan(0.65)
    const columns = fill(40)
    const cosineOf = columns.compareWith(a)
    expect(cosineOf(20)).toBeLessThan(0.1)
    expect(cosineOf(20)).toBeGreaterThan(-0.1)
    expect(cosineOf(3)).toBeCloseTo(1, 2)
    expect(cosineOf(77)).toBe(0)
    const between = make(3)
    between[22] = between[5] ?? 0
    columns.put(40, between)
    expect(columns.compareWith(a)(40)).toBeGreaterThan(0.5)
  })

  it('cannot be compared while they are a handful, or with other dimensions', () => {
    const query = toUnit(make(1))
    const columns = fill(29)
    expect([columns.canCompare(query), columns.compareWith(query)(1)]).toEqual([false, 0])
    columns.put(29, make(29))
    expect([columns.canCompare(query), columns.canCompare(query.subarray(4))]).toEqual([true, false])
    columns.put(29, null)
    expect(columns.canCompare(query)).toBe(false)
  })

  it('keep nothing of a vector that is gone', () => {
    const query = toUnit(make(1))
    const columns = fill(40)
    const before = columns.compareWith(query)(5)
    columns.put(40, make(7, 9))
    expect(columns.compareWith(query)(5)).not.toBeCloseTo(before, 4)
    columns.put(40, null)
    expect(columns.compareWith(query)(5)).toBeCloseTo(before, 10)
  })

  it('take other dimensions once there are none of the old ones', () => {
    const columns = fill(40)
    for (let slot = 0; slot < 40; slot++) columns.put(slot, null)
    for (let slot = 0; slot < 40; slot++) columns.put(slot, make(slot).subarray(0, 46))
    expect(columns.canCompare(toUnit(make(3)).subarray(0, 46))).toBe(true)
    expect(columns.compareWith(toUnit(make(3)).subarray(0, 46))(3)).toBeCloseTo(1, 2)
  })
})
