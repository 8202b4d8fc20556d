/** With fewer vectors, their mean says little about what they share. */
export const MIN_ITEMS = 30
/** Vectors the mean is taken from: enough for a good estimate. */
const SAMPLE = 512
/** The mean is taken anew when the number of vectors has changed by this factor. */
const GROWTH = 1.25

/**
 * The mean of the public items' vectors. A provider's vectors share a large common part: unrelated texts have cosines of 0.3 to 0.7,
 * depending on the model. Subtracting the mean brings those near 0, so that one weight fits every model (Mu, Viswanath 2018,
 * "All-but-the-Top").
 */
export interface Centroid {
  /** Items to take the mean from; null when it is up to date or there are too few items. */
  chooseSample(seqs: () => readonly number[], size: number): readonly number[] | null
  /** Takes the mean of a sample of unit vectors; `size` is the number of all vectors. */
  learn(sample: ReadonlyMap<number, Float32Array>, size: number): void
  /** Call when an item's vector changed or is gone: drops the mean if that vector was in its sample. */
  invalidate(seq: number): void
  /** null until it has been learnt. */
  readonly mean: Float32Array | null
  /** Gives a function for the cosine with `query`, the mean subtracted from both; null when there is no mean. */
  compareWith(query: Float32Array): ((vector: Float32Array) => number) | null
}

/** A centroid that has learnt nothing yet. */
export function createCentroid(): Centroid {
  let current: Float32Array | null = null
  let sampledSeqs = new Set<number>()
  let sizeAtSample = 0
  return {
    chooseSample(seqs, size) {
      if (size < MIN_ITEMS) {
        current = null
        return null
      }
      if (current && size < sizeAtSample * GROWTH && size * GROWTH > sizeAtSample) return null
      const all = seqs()
      const step = Math.max(1, all.length / SAMPLE)
      return Array.from({ length: Math.min(all.length, SAMPLE) }, (_, i) => all[Math.floor(i * step)] ?? 0)
    },
    learn(sample, size) {
      const [first] = sample.values()
      const mean = new Float32Array(first?.length ?? 0)
      for (const vector of sample.values()) for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) + (vector[i] ?? 0) / sample.size
      current = mean
      sampledSeqs = new Set(sample.keys())
      sizeAtSample = size
    },
    invalidate(seq) {
      if (sampledSeqs.has(seq)) current = null
    },
    get mean() {
      return current
    },
    compareWith(query) {
      const mean = current
      if (!mean || query.length !== mean.length) return null
      const centred = query.map((value, i) => value - (mean[i] ?? 0))
      const queryLength = Math.sqrt(centred.reduce((sum, value) => sum + value * value, 0))
      return (vector) => {
        if (vector.length !== mean.length) return 0
        let product = 0
        let squares = 0
        for (let i = 0; i < mean.length; i++) {
          const value = (vector[i] ?? 0) - (mean[i] ?? 0)
          product += value * (centred[i] ?? 0)
          squares += value * value
        }
        const length = Math.sqrt(squares) * queryLength
        return length > 0 ? product / length : 0
      }
    },
  }
}
