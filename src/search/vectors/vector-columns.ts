import { dotProduct } from './dot-product.ts'
import { lengthOf } from './embedder.ts'
import { hammingDistances, signWords, toSignBits } from './sign-bits.ts'

/** Numbers by slot, `width` of them for each. */
export interface Column {
  readonly numbers: Int8Array | Uint8Array | Uint32Array | Float32Array | Float64Array
  readonly width: number
}

/** Vectors of one kind by slot, as columns. They take memory once a slot has a vector. */
export interface VectorColumns {
  /** What it consists of. Shorter than the table where the last slots have no vector; zeros where a slot has none. */
  columns(): readonly Column[]
  /** Makes room for slots below this one. */
  reserve(slots: number): void
  /** Stores a slot's vector of `dims` integers from -127 to 127; null removes it. */
  put(slot: number, vector: Int8Array | null): void
  /** A slot's vector; null when it has none. Valid until the next `put`. */
  get(slot: number): Int8Array | null
  has(slot: number): boolean
  /** Gives a function for the cosine of a slot's vector with `vector`: -1 to 1, or 0 when the slot has none. */
  compareWith(vector: Float32Array): (slot: number) => number
  /** For each slot below `slots`: how many components have another sign than in `vector`; all of them when it has no vector. */
  compareSigns(vector: Float32Array, slots: number): Uint16Array
}

/** Empty columns for vectors of `dims` components, a multiple of four. @param beforeChange called before the vector of a slot changes */
export function createVectorColumns(dims: number, beforeChange: (slot: number) => void = () => {}): VectorColumns {
  const words = signWords(dims)
  let vectors = new Int8Array(0)
  let lengths = new Float32Array(0)
  let signs = new Uint32Array(0)

  const reserve = (slots: number): void => {
    if (slots <= lengths.length) return
    const capacity = Math.max(256, slots, Math.ceil(lengths.length * 1.5))
    const [oldVectors, oldLengths, oldSigns] = [vectors, lengths, signs]
    vectors = new Int8Array(capacity * dims)
    lengths = new Float32Array(capacity)
    signs = new Uint32Array(capacity * words)
    vectors.set(oldVectors)
    lengths.set(oldLengths)
    signs.set(oldSigns)
  }
  const has = (slot: number) => (lengths[slot] ?? 0) > 0
  return {
    columns: () => [
      { numbers: vectors, width: dims },
      { numbers: lengths, width: 1 },
      { numbers: signs, width: words },
    ],
    reserve,
    has,
    get: (slot) => (has(slot) ? vectors.subarray(slot * dims, (slot + 1) * dims) : null),
    put(slot, vector) {
      if (!vector) {
        if (!has(slot)) return
        beforeChange(slot)
        lengths[slot] = 0
        vectors.fill(0, slot * dims, (slot + 1) * dims)
        signs.fill(0, slot * words, (slot + 1) * words)
        return
      }
      beforeChange(slot)
      reserve(slot + 1)
      vectors.set(vector, slot * dims)
      lengths[slot] = lengthOf(vector)
      signs.set(toSignBits(vector), slot * words)
    },
    compareWith(vector) {
      const ownLength = lengthOf(vector) || 1
      const own = Float64Array.from(vector)
      return (slot) => {
        const length = lengths[slot] ?? 0
        if (length === 0) return 0
        return dotProduct(own, vectors, slot * dims) / (ownLength * length)
      }
    },
    compareSigns(vector, slots) {
      const distances = new Uint16Array(slots).fill(dims)
      hammingDistances(signs, toSignBits(vector), distances.subarray(0, Math.min(slots, lengths.length)))
      for (let slot = 0; slot < slots && slot < lengths.length; slot++) if (lengths[slot] === 0) distances[slot] = dims
      return distances
    },
  }
}
