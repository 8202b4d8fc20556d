/** Below so many vectors a mean says nothing about what they share. */
export const MIN_ITEMS = 30
/** Vectors the centre is learned from: enough to know a mean well. */
const SAMPLE = 512
/** The centre is learned anew when there are so many times as many vectors. */
const GROWTH = 1.25

/**
 * The middle of the public items' vectors. A provider's vectors of unrelated texts are far from being at right angles (cosines of 0.3 to
 * 0.7, by model), because all share a large common part. With the middle taken out, unrelated texts have a cosine near 0 as with the
 * built-in vectors, so that it weighs the same beside the words, whatever the model (after Mu, Viswanath 2018, "All-but-the-Top").
 */
export interface VectorCentre {
  /** The items to learn from, when the centre must be learned (anew); null when it need not, or there are too few to learn anything. */
  sampleOf(seqs: () => readonly number[], size: number): readonly number[] | null
  /** Learns from the vectors of a whole sample, of unit length; `size` is how many vectors there are in all. */
  learn(sample: ReadonlyMap<number, Float32Array>, size: number): void
  /** Notes that an item's vector went or is another: when the centre was learned from it, it must be learned anew. */
  forget(seq: number): void
  /** The centre itself; null when it must be learned first. */
  readonly middle: Float32Array | null
  /** Compares a vector with others, the centre taken out of both: cosines, -1 to 1. Null when there is no centre to go by. */
  compareWith(query: Float32Array): ((vector: Float32Array) => number) | null
}

/** No centre yet. */
export function createVectorCentre(): VectorCentre {
  let centre: Float32Array | null = null
  let learnedFrom = new Set<number>()
  let learnedSize = 0
  return {
    sampleOf(seqs, size) {
      if (size < MIN_ITEMS) {
        centre = null
        return null
      }
      if (centre && size < learnedSize * GROWTH && size * GROWTH > learnedSize) return null
      const all = seqs()
      const step = Math.max(1, all.length / SAMPLE)
      return Array.from({ length: Math.min(all.length, SAMPLE) }, (_, i) => all[Math.floor(i * step)] ?? 0)
    },
    learn(sample, size) {
      const [first] = sample.values()
      const mean = new Float32Array(first?.length ?? 0)
      for (const vector of sample.values()) for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) + (vector[i] ?? 0) / sample.size
      centre = mean
      learnedFrom = new Set(sample.keys())
      learnedSize = size
    },
    forget(seq) {
      if (learnedFrom.has(seq)) centre = null
    },
    get middle() {
      return centre
    },
    compareWith(query) {
      const middle = centre
      if (!middle || query.length !== middle.length) return null
      const asked = query.map((value, i) => value - (middle[i] ?? 0))
      const askedLength = Math.sqrt(asked.reduce((sum, value) => sum + value * value, 0))
      return (vector) => {
        if (vector.length !== middle.length) return 0
        let product = 0
        let squares = 0
        for (let i = 0; i < middle.length; i++) {
          const value = (vector[i] ?? 0) - (middle[i] ?? 0)
          product += value * (asked[i] ?? 0)
          squares += value * value
        }
        const length = Math.sqrt(squares) * askedLength
        return length > 0 ? product / length : 0
      }
    },
  }
}
