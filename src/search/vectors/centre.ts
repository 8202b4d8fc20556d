/** With fewer vectors, their mean says little about what they share. */
export const MIN_ITEMS = 30

/**
 * The mean of all vectors of an index. A provider's vectors share a large common part: unrelated texts have cosines of 0.3 to 0.7,
 * depending on the model. Subtracting the mean brings those near 0, so that one weight fits every model (Mu, Viswanath 2018,
 * "All-but-the-Top").
 */
export type Centre = ReturnType<typeof createCentre>

/** The centre of no vectors yet. */
export function createCentre() {
  let sum = new Float64Array(0)
  let size = 0
  return {
    /** Adds a vector times `factor`: 1 / length for one that is new, -1 / length for one that goes. Other dimensions start anew. */
    add(vector: Int8Array, factor: number): void {
      if (vector.length !== sum.length) {
        if (factor < 0) return
        sum = new Float64Array(vector.length)
        size = 0
      }
      size += Math.sign(factor)
      for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + factor * (vector[i] ?? 0)
    },
    /** The mean of the unit vectors; null while there are fewer than {@link MIN_ITEMS}, or of other dimensions. */
    mean: (dims: number): Float64Array | null => (size < MIN_ITEMS || dims !== sum.length ? null : sum.map((value) => value / size)),
  }
}
