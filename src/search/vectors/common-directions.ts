import { DIMS } from './word-vectors.ts'

/** How many directions are taken out of vectors before they are compared. */
const COUNT = 3
/** Below so many items there is nothing common to learn. */
export const MIN_ITEMS = 30
const ROUNDS = 40
/** What is left of a vector below this share is rounding, not meaning. */
const MIN_REST = 1e-3

/**
 * Learns which directions all items of the library share (texts that instruct a model are alike in that they do), so that likeness can be told by
 * the rest (after Arora, Liang, Ma 2017 and Mu, Viswanath 2018). It is a sum over the items there are: learning one item more or
 * less is adding or taking away, and the same items give the same directions.
 */
export interface CommonDirections {
  add(vector: Int8Array, sign: 1 | -1): void
  /** Takes the common directions out of a vector, in place. */
  takeOut(vector: Float32Array): void
  /** Changes whenever the directions may have. */
  readonly revision: number
  /** The length a vector has left without them, squared; 0 when next to nothing is. */
  restOf(vectors: Int8Array, offset: number): number
}

/** Directions of no items. */
export function learnCommonDirections(): CommonDirections {
  const sums = new Float64Array(DIMS * DIMS)
  let items = 0
  let revision = 1
  let axes: Float32Array[] | null = null
  const directions = (): Float32Array[] => {
    axes ??= items < MIN_ITEMS ? [] : strongestAxes(sums)
    return axes
  }
  return {
    add(vector, sign) {
      let length = 0
      for (let i = 0; i < DIMS; i++) length += (vector[i] ?? 0) ** 2
      if (length === 0) return
      axes = null
      revision++
      items += sign
      for (let i = 0; i < DIMS; i++) {
        const factor = (sign * (vector[i] ?? 0)) / length
        if (factor === 0) continue
        // The matrix is symmetric: its upper half is kept.
        for (let j = i; j < DIMS; j++) sums[i * DIMS + j] = (sums[i * DIMS + j] ?? 0) + factor * (vector[j] ?? 0)
      }
    },
    get revision() {
      return revision
    },
    takeOut(vector) {
      for (const axis of directions()) {
        let share = 0
        for (let i = 0; i < DIMS; i++) share += (axis[i] ?? 0) * (vector[i] ?? 0)
        for (let i = 0; i < DIMS; i++) vector[i] = (vector[i] ?? 0) - share * (axis[i] ?? 0)
      }
    },
    restOf(vectors, offset) {
      let whole = 0
      for (let i = 0; i < DIMS; i++) whole += (vectors[offset + i] ?? 0) ** 2
      let rest = whole
      for (const axis of directions()) {
        let share = 0
        for (let i = 0; i < DIMS; i++) share += (axis[i] ?? 0) * (vectors[offset + i] ?? 0)
        rest -= share * share
      }
      return rest < whole * MIN_REST ? 0 : rest
    },
  }
}

/** Eigenvectors of the largest eigenvalues, by power iteration from fixed starts, each kept at right angles to those before. */
function strongestAxes(sums: Float64Array): Float32Array[] {
  const axes: Float32Array[] = []
  for (let k = 0; k < COUNT; k++) {
    let axis = Float64Array.from({ length: DIMS }, (_, i) => Math.sin(i * 3 + k + 1))
    for (let round = 0; round < ROUNDS; round++) {
      const next = new Float64Array(DIMS)
      for (let i = 0; i < DIMS; i++) {
        let sum = 0
        for (let j = 0; j < DIMS; j++) sum += (sums[i <= j ? i * DIMS + j : j * DIMS + i] ?? 0) * (axis[j] ?? 0)
        next[i] = sum
      }
      for (const found of axes) {
        let share = 0
        for (let i = 0; i < DIMS; i++) share += (found[i] ?? 0) * (next[i] ?? 0)
        for (let i = 0; i < DIMS; i++) next[i] = (next[i] ?? 0) - share * (found[i] ?? 0)
      }
      const length = Math.sqrt(next.reduce((sum, value) => sum + value * value, 0)) || 1
      axis = next.map((value) => value / length)
    }
    axes.push(Float32Array.from(axis))
  }
  return axes
}
