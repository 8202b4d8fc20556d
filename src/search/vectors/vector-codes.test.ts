import { describe, expect, it } from 'vitest'
import { createVectorCodes, toCode } from './vector-codes.ts'

/** Numbers that look random and are always the same. */
function createNoise(seed: number): () => number {
  let state = seed | 1
  const uniform = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return () => uniform() + uniform() + uniform() + uniform() - 2
}

const all = () => true
const vector = (...numbers: number[]) => Float32Array.from(numbers)

describe('toCode', () => {
  it('is a bit for each number above zero, in whole words of 32', () => {
    expect([...toCode(vector(0.1, -0.1, 0, 5))]).toEqual([0b1001, 0, 0, 0])
    expect(toCode(new Float32Array(33).fill(1))).toEqual(Uint8Array.of(255, 255, 255, 255, 1, 0, 0, 0))
  })
})

describe('codes', () => {
  it('are found nearest first, of those that pass', () => {
    const codes = createVectorCodes()
    const rows = { 7: vector(1, 1, 1, 1), 9: vector(1, 1, 1, -1), 3: vector(-1, -1, -1, -1), 5: vector(1, 1, -1, -1) }
    for (const [seq, one] of Object.entries(rows)) codes.put(Number(seq), 4, toCode(one))
    expect(codes.nearest(vector(2, 2, 2, 2), all, 10)).toEqual([7, 9, 5, 3])
    expect(codes.nearest(vector(-2, -2, -2, -2), all, 2)).toEqual([3, 5])
    expect(codes.nearest(vector(2, 2, 2, 2), (seq) => seq !== 7, 1)).toEqual([9])
    expect([codes.seqs(), codes.size, codes.has(9), codes.has(8)]).toEqual([[3, 5, 7, 9], 4, true, false])
  })

  it('have the ten nearest by cosine among the 200 they name, of 5,000 with a large common part', () => {
    const dims = 256
    const noise = createNoise(dims)
    const random = () => Float32Array.from({ length: dims }, noise)
    const common = random()
    const topics = Array.from({ length: 50 }, random)
    const make = (topic: number) => {
      const own = random()
      const numbers = own.map((value, i) => value + (topics[topic]?.[i] ?? 0) + 1.2 * (common[i] ?? 0))
      const length = Math.hypot(...numbers)
      return numbers.map((value) => value / length)
    }
    const vectors = Array.from({ length: 5000 }, (_, n) => make(n % 50))
    const codes = createVectorCodes()
    vectors.forEach((one, seq) => {
      codes.put(seq, dims, toCode(one))
    })
    let found = 0
    for (let round = 0; round < 5; round++) {
      const query = make(round)
      const cosines = vectors.map((one, seq) => ({ seq, cosine: one.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0) }))
      const best = cosines.sort((a, b) => b.cosine - a.cosine).slice(0, 10)
      const named = new Set(codes.nearest(query, all, 200))
      found += best.filter(({ seq }) => named.has(seq)).length
    }
    expect(found / 50).toBeGreaterThan(0.95)
  })
})
