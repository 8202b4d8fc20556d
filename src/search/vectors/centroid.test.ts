import { describe, expect, it } from 'vitest'
import { createCentroid } from './centroid.ts'

const DIMS = 48

/** A vector of unit length that shares most with all others, and has an axis of its own. */
function make(axis: number, share = 1): Float32Array {
  const vector = new Float32Array(DIMS).fill(0)
  vector[0] = 1.5
  vector[1] = -0.5
  vector[2 + (axis % (DIMS - 2))] = share
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const vectors = new Map(Array.from({ length: 40 }, (_, n) => [n + 1, make(n)]))
const seqs = () => [...vectors.keys()]

function learned() {
  const centroid = createCentroid()
  expect(centroid.chooseSample(seqs, 40)).toEqual(seqs())
  centroid.learn(vectors, 40)
  return centroid
}

describe('createCentroid', () => {
  it('takes out what all share: unrelated texts come near 0, the same text stays at 1', () => {
    const [a, b] = [make(3), make(20)]
    // As the provider has it.
    expect(a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)).toBeGreaterThan(0.65)
    const compare = learned().compareWith(a)
    expect(compare?.(b)).toBeLessThan(0.1)
    expect(compare?.(b)).toBeGreaterThan(-0.1)
    expect(compare?.(a)).toBeCloseTo(1, 5)
    const between = make(3)
    between[22] = between[5] ?? 0
    expect(compare?.(between)).toBeGreaterThan(0.5)
  })

  it('is not learned from a handful', () => {
    const centroid = createCentroid()
    expect([centroid.chooseSample(seqs, 29), centroid.compareWith(make(1))]).toEqual([null, null])
  })

  it('is learned again when much came or went, or one it was learned from', () => {
    const centroid = learned()
    expect([centroid.chooseSample(seqs, 40), centroid.chooseSample(seqs, 49), centroid.chooseSample(seqs, 33)]).toEqual([null, null, null])
    expect([centroid.chooseSample(seqs, 50), centroid.chooseSample(seqs, 32)]).toEqual([seqs(), seqs()])
    centroid.invalidate(1000)
    expect(centroid.compareWith(make(1))).not.toBeNull()
    centroid.invalidate(7)
    expect([centroid.compareWith(make(1)), centroid.chooseSample(seqs, 40)]).toEqual([null, seqs()])
  })
})
