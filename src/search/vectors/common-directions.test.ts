import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { learnCommonDirections, MIN_ITEMS } from './common-directions.ts'
import { lengthOf } from './embedder.ts'
import { DIMS } from './word-vectors.ts'

/** Numbers of -40 to 40 that are the same for the same seed. */
function scattered(seed: number): Int8Array {
  return Int8Array.from({ length: DIMS }, (_, i) => Math.round(40 * Math.sin((seed + 1) * 12.9898 + i * (seed + 3) * 78.233)))
}
/** What all items share, strongly: the first ten numbers are large. */
const COMMON = Int8Array.from({ length: DIMS }, (_, i) => (i < 10 ? 80 : 0))
const ITEMS = Array.from({ length: 60 }, (_, seed) => {
  const own = scattered(seed)
  return Int8Array.from(COMMON, (value, i) => value + Math.round((own[i] ?? 0) / 3))
})

function learn(items: readonly Int8Array[]) {
  const directions = learnCommonDirections()
  for (const item of items) directions.add(item, 1)
  return directions
}
function without(directions: ReturnType<typeof learn>, vector: Int8Array | Float32Array): Float32Array {
  const taken = Float32Array.from(vector)
  directions.takeOut(taken)
  return taken
}
const dot = (a: Float32Array, b: Int8Array | Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
function expectSame(a: Float32Array, b: Float32Array | Int8Array): void {
  for (let i = 0; i < DIMS; i++) expect(a[i]).toBeCloseTo(b[i] ?? Number.NaN, 2)
}

describe('learnCommonDirections', () => {
  it('takes nothing out before there are enough items', () => {
    const directions = learn(ITEMS.slice(0, MIN_ITEMS - 1))
    expect(without(directions, COMMON)).toEqual(Float32Array.from(COMMON))
    directions.add(ITEMS[0] ?? COMMON, 1)
    expect(lengthOf(without(directions, COMMON))).toBeLessThan(lengthOf(COMMON) / 5)
  })

  it('takes out what the items share, and leaves most of what they do not', () => {
    const directions = learn(ITEMS)
    expect(lengthOf(without(directions, COMMON)) / lengthOf(COMMON)).toBeLessThan(0.1)
    for (const seed of [200, 201, 202]) {
      const taken = without(directions, scattered(seed))
      expect(Math.abs(dot(taken, COMMON)) / (lengthOf(taken) * lengthOf(COMMON))).toBeLessThan(0.1)
      expect(lengthOf(taken) / lengthOf(scattered(seed))).toBeGreaterThan(0.5)
    }
  })

  it('leaves what is at right angles to what it took, so that taking it again changes nothing', () => {
    const directions = learn(ITEMS)
    for (const seed of [1, 300, 301]) {
      const whole = Float32Array.from(scattered(seed))
      const left = without(directions, whole)
      const took = whole.map((value, i) => value - (left[i] ?? 0))
      expect(Math.abs(dot(left, took)) / lengthOf(whole) ** 2).toBeLessThan(1e-4)
      expectSame(without(directions, left), left)
    }
  })

  it('says what length is left, squared', () => {
    const directions = learn(ITEMS)
    const vectors = new Int8Array(3 * DIMS)
    for (const [place, seed] of [7, 8, 9].entries()) vectors.set(scattered(seed), place * DIMS)
    for (const [place, seed] of [7, 8, 9].entries()) {
      const left = lengthOf(without(directions, scattered(seed))) ** 2
      expect(directions.restOf(vectors, place * DIMS) / left).toBeCloseTo(1, 3)
    }
    expect(learn([]).restOf(vectors, DIMS)).toBeCloseTo(lengthOf(scattered(8)) ** 2, 3)
  })

  it('is the same after items came and went', () => {
    const before = learn(ITEMS)
    const after = learn(ITEMS)
    const others = Array.from({ length: 50 }, (_, seed) => scattered(seed + 500))
    for (const item of others) after.add(item, 1)
    expect(lengthOf(without(after, scattered(7)).map((value, i) => value - (without(before, scattered(7))[i] ?? 0)))).toBeGreaterThan(0.5)
    for (const item of others) after.add(item, -1)
    for (const seed of [7, 400]) expectSame(without(after, scattered(seed)), without(before, scattered(seed)))
  })

  it('forgets again when there are too few', () => {
    const directions = learn(ITEMS)
    for (const item of ITEMS.slice(MIN_ITEMS - 1)) directions.add(item, -1)
    expect(without(directions, COMMON)).toEqual(Float32Array.from(COMMON))
  })

  it('is the same in whatever order items came, and counts each for its direction alone', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(ITEMS, { minLength: ITEMS.length }), (shuffled) => {
        expectSame(without(learn(shuffled), scattered(7)), without(learn(ITEMS), scattered(7)))
      }),
      { numRuns: 5 },
    )
    const even = ITEMS.map((item) => item.map((value) => 2 * Math.round(value / 4)))
    const shorter = even.map((item, i) => (i % 2 === 0 ? item.map((value) => value / 2) : item))
    expectSame(without(learn(shorter), scattered(7)), without(learn(even), scattered(7)))
  })

  it('does not count items that say nothing', () => {
    const directions = learn(ITEMS.slice(0, MIN_ITEMS - 1))
    const { revision } = directions
    for (let i = 0; i < 10; i++) directions.add(new Int8Array(DIMS), 1)
    expect(without(directions, COMMON)).toEqual(Float32Array.from(COMMON))
    expect(directions.revision).toBe(revision)
  })

  it('has another revision after every change', () => {
    const directions = learn([])
    const revisions = new Set([directions.revision])
    for (const sign of [1, 1, -1, 1] as const) {
      directions.add(COMMON, sign)
      revisions.add(directions.revision)
    }
    expect(revisions.size).toBe(5)
  })
})
