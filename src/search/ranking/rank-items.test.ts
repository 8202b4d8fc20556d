import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sortByScore } from './rank-items.ts'

/** An index of items with these votes, oldest first. */
function viewOf(votes: readonly number[]) {
  return { table: { votes: Float64Array.from(votes), seq: Float64Array.from(votes, (_, slot) => slot + 1) } }
}

it('sorts the best of many as they stand among all', () => {
  // Few different scores and votes, so that many items are equal in one or both.
  const item = fc.record({ score: fc.constantFrom(0, 0.5, 0.5 + 1e-8, 1, 2), votes: fc.integer({ min: 0, max: 2 }) })
  fc.assert(
    fc.property(fc.array(item, { maxLength: 40 }), fc.integer({ min: 0, max: 45 }), (items, count) => {
      const view = viewOf(items.map(({ votes }) => votes))
      const scored = items.map(({ score }, slot) => ({ slot, score }))
      expect(sortByScore(view, scored, count)).toEqual(sortByScore(view, scored).slice(0, count))
    }),
  )
})

it('puts the best first, then the most voted, then the newest', () => {
  const view = viewOf([1, 2, 2, 0])
  const scored = [0.5, 0.5, 0.5, 0.9].map((score, slot) => ({ slot, score }))
  expect(sortByScore(view, scored).map(({ slot }) => slot)).toEqual([3, 2, 1, 0])
})
