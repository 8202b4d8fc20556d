import { describe, expect, it } from 'vitest'
import { createVectorCentre } from './vector-centre.ts'

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
  const centre = createVectorCentre()
  expect(centre.sampleOf(seqs, 40)).toEqual(seqs())
  centre.learn(vectors, 40)
  return centre
}

describe('the centre', () => {
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
    const centre = createVectorCentre()
    expect([centre.sampleOf(seqs, 29), centre.compareWith(make(1))]).toEqual([null, null])
  })

  it('is learned again when much came or went, or one it was learned from', () => {
    const centre = learned()
    expect([centre.sampleOf(seqs, 40), centre.sampleOf(seqs, 49), centre.sampleOf(seqs, 33)]).toEqual([null, null, null])
    expect([centre.sampleOf(seqs, 50), centre.sampleOf(seqs, 32)]).toEqual([seqs(), seqs()])
    centre.forget(1000)
    expect(centre.compareWith(make(1))).not.toBeNull()
    centre.forget(7)
    expect([centre.compareWith(make(1)), centre.sampleOf(seqs, 40)]).toEqual([null, seqs()])
  })

  it('is learned from a bounded sample, spread over all', () => {
    const all = Array.from({ length: 10_000 }, (_, n) => n * 3)
    const sample = createVectorCentre().sampleOf(() => all, all.length) ?? []
    expect([sample.length, new Set(sample).size, sample[0]]).toEqual([512, 512, 0])
    expect(sample.at(-1)).toBeGreaterThan(29_000)
  })

  it('compares nothing of other dimensions', () => {
    const centre = learned()
    expect([centre.compareWith(Float32Array.of(1, 0)), centre.compareWith(make(1))?.(Float32Array.of(1, 0))]).toEqual([null, 0])
  })
})
