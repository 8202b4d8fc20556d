import { type Centre, dotProduct, hammingDistances, signWords, toSignBits } from './arithmetic.ts'
import { lengthOf } from './embedder.ts'

/** Numbers by slot, `width` of them for each. */
export interface Column {
  readonly numbers: Int8Array | Uint8Array | Uint32Array | Float32Array | Float64Array
  readonly width: number
}

/** Vectors of one kind by slot, as columns. They take memory once a slot has a vector. */
export type VectorColumns = ReturnType<typeof createVectorColumns>

/**
 * Empty columns.
 * @param options.beforeChange called before the vector of a slot changes
 * @param options.centre is subtracted from what is compared. Default: nothing is
 */
export function createVectorColumns({
  beforeChange = () => {},
  centre = null,
}: {
  beforeChange?: (slot: number) => void
  centre?: Centre | null
} = {}) {
  let dims = 0
  /** Numbers between two vectors: a multiple of four. */
  let width = 0
  let words = 0
  let vectors = new Int8Array(0)
  let lengths = new Float32Array(0)
  let signs = new Uint32Array(0)

  const reserve = (slots: number, asked: number): void => {
    if (asked !== dims) {
      dims = asked
      width = Math.ceil(dims / 4) * 4
      words = signWords(dims)
      vectors = new Int8Array(0)
      lengths = new Float32Array(0)
      signs = new Uint32Array(0)
    }
    if (dims === 0 || slots <= lengths.length) return
    const capacity = Math.max(256, slots, Math.ceil(lengths.length * 1.5))
    const [oldVectors, oldLengths, oldSigns] = [vectors, lengths, signs]
    vectors = new Int8Array(capacity * width)
    lengths = new Float32Array(capacity)
    signs = new Uint32Array(capacity * words)
    vectors.set(oldVectors)
    lengths.set(oldLengths)
    signs.set(oldSigns)
  }
  const has = (slot: number) => (lengths[slot] ?? 0) > 0
  const get = (slot: number) => (has(slot) ? vectors.subarray(slot * width, slot * width + dims) : null)
  const noteInCentre = (slot: number, sign: 1 | -1): void => {
    const vector = get(slot)
    if (vector) centre?.add(vector, sign / (lengths[slot] ?? 1))
  }
  /** With zeros up to a whole `width`. */
  const widen = (numbers: ArrayLike<number>): Float64Array => {
    const wide = new Float64Array(width)
    wide.set(numbers)
    return wide
  }
  const canCompare = (vector: Float32Array) => vector.length === dims && (!centre || centre.mean(dims) !== null)
  return {
    /** Numbers of each vector; 0 before the first one. */
    get dims() {
      return dims
    },
    /** Whether what all vectors share is subtracted before they are compared. */
    isCentred: centre !== null,
    /** Its words. Shorter than the table where the last slots have no vector; zeros where a slot has none. */
    columns: (): readonly Column[] => [
      { numbers: vectors, width },
      { numbers: lengths, width: 1 },
      { numbers: signs, width: words },
    ],
    /** Makes room for vectors of so many numbers in the slots below this one. */
    reserve,
    /** Notes the vector of a slot whose columns were filled. */
    complete: (slot: number): void => noteInCentre(slot, 1),
    has,
    /** A slot's vector; null when it has none. Valid until the next `put`. */
    get,
    /**
     * Stores a slot's vector of integers from -127 to 127; null removes it. All have equally many numbers: other dimensions need columns without
     * a vector.
     */
    put(slot: number, vector: Int8Array | null): void {
      if (!vector && !has(slot)) return
      beforeChange(slot)
      noteInCentre(slot, -1)
      if (!vector) {
        lengths[slot] = 0
        vectors.fill(0, slot * width, (slot + 1) * width)
        signs.fill(0, slot * words, (slot + 1) * words)
        return
      }
      reserve(slot + 1, vector.length)
      vectors.set(vector, slot * width)
      lengths[slot] = lengthOf(vector)
      signs.set(toSignBits(vector), slot * words)
      noteInCentre(slot, 1)
    },
    /** Whether cosines with this vector say something. */
    canCompare,
    /** Gives a function for the cosine of a slot's vector with `vector`: -1 to 1, or 0 when the slot has none, or they cannot be compared. */
    compareWith(vector: Float32Array): (slot: number) => number {
      if (!canCompare(vector)) return () => 0
      const mean = centre?.mean(dims)
      const own = widen(mean ? vector.map((value, i) => value - (mean[i] ?? 0)) : vector)
      const ownLength = lengthOf(own) || 1
      if (!mean) {
        return (slot) => {
          const length = lengths[slot] ?? 0
          return length === 0 ? 0 : dotProduct(own, vectors, slot * width) / (ownLength * length)
        }
      }
      const wideMean = widen(mean)
      const meanSquare = lengthOf(mean) ** 2
      const ownByMean = mean.reduce((sum, value, i) => sum + value * (own[i] ?? 0), 0)
      return (slot) => {
        const length = lengths[slot] ?? 0
        if (length === 0) return 0
        const product = dotProduct(own, vectors, slot * width) / length - ownByMean
        const square = 1 - (2 * dotProduct(wideMean, vectors, slot * width)) / length + meanSquare
        // A vector equal to the mean has no direction.
        return square > 1e-9 ? product / (ownLength * Math.sqrt(square)) : 0
      }
    },
    /** For each slot below `slots`: how many components have another sign than in `vector`; all of them when it has no vector. */
    compareSigns(vector: Float32Array, slots: number): Uint16Array {
      const distances = new Uint16Array(slots).fill(vector.length)
      hammingDistances(signs, toSignBits(vector), distances.subarray(0, Math.min(slots, lengths.length)))
      for (let slot = 0; slot < slots && slot < lengths.length; slot++) if (lengths[slot] === 0) distances[slot] = dims
      return distances
    },
  }
}
