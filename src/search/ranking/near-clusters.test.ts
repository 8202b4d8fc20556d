import { expect, it } from 'vitest'
import { libraryOf } from '../../../test/support/indexed-library.ts'
import { clusterSentences } from './near-clusters.ts'

/** A vector at this angle in the first two dimensions. */
function atDegrees(degrees: number): Int8Array {
  const vector = new Int8Array(384)
  vector.set([Math.round(127 * Math.cos((degrees * Math.PI) / 180)), Math.round(127 * Math.sin((degrees * Math.PI) / 180))])
  return vector
}

function clustersOf(index: ReturnType<typeof libraryOf>['index'], maxItems: number) {
  const snapshot = index.copySentences('prompt', maxItems)
  const slices = clusterSentences(snapshot, 0.9)
  let count = 0
  let slice = slices.next()
  for (; !slice.done; slice = slices.next()) count++
  return {
    clusters: slice.value.map((seqs) => seqs.toSorted((a, b) => a - b)),
    slices: count,
    compared: snapshot.seqs.length,
    total: snapshot.total,
  }
}

it('groups public items by chains of near ones, the largest group first, newest items only', () => {
  const { index } = libraryOf(['a', 'b', 'c', 'd', 'e', 'f', { content: 'hidden', visibility: 'private' }, 'without a vector'])
  // 20 degrees are a cosine of .94, 40 of .77.
  const degrees = [0, 20, 40, 90, 100, 180, 0]
  index.applyVectors(
    'prompt',
    degrees.map((angle, place) => ({ seq: place + 1, vector: atDegrees(angle) })),
  )
  expect(clustersOf(index, 100)).toEqual({
    clusters: [
      [1, 2, 3],
      [4, 5],
    ],
    slices: 1,
    compared: 6,
    total: 6,
  })
  expect(clustersOf(index, 4)).toEqual({ clusters: [[4, 5]], slices: 0, compared: 4, total: 6 })
  expect(clustersOf(libraryOf(['a']).index, 10)).toEqual({ clusters: [], slices: 0, compared: 0, total: 0 })
})
