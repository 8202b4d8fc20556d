import { describe, expect, it } from 'vitest'
import { planDistinctive } from './rank-similar.ts'

/** The words a plan looks for, by how many items hold each word. */
const wordsOf = (counts: readonly number[]) =>
  planDistinctive(counts.keys(), (word) => counts[word] ?? 0).groups.flatMap(({ concepts }) => concepts.flatMap(({ words }) => [...words]))

describe('planDistinctive', () => {
  it('takes the rarest words that other items hold, twelve at most', () => {
    expect(wordsOf([7, 0, 3, 5])).toEqual([2, 3, 0])
    expect(wordsOf(Array.from({ length: 20 }, (_, word) => 100 - word))).toEqual([19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8])
  })

  it('reads no more postings in a large library than in one of some thousand items', () => {
    expect(wordsOf([900_000, 4_000, 6_000, 5_000])).toEqual([1, 3])
    expect(wordsOf([10_000])).toEqual([0])
    expect(wordsOf([10_001])).toEqual([])
  })
})
