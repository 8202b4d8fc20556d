import { countBits } from './sign-bits.ts'

/** Bits per word of a code. */
const WORD_BITS = 32

/** A provider's vectors, quantized to one bit per component, by the row number of their item. They fit into memory and preselect candidates. */
export interface VectorCodes {
  readonly size: number
  /** Row numbers, ascending. */
  seqs(): number[]
  has(seq: number): boolean
  /** Stores a code from {@link toCode}. A code of other dimensions than the stored ones replaces them all. */
  put(seq: number, dims: number, code: Uint8Array): void
  remove(seq: number): void
  /** Row numbers of the `count` codes with the smallest Hamming distance to a vector, among candidates; none when dimensions differ. */
  nearest(vector: Float32Array, isCandidate: (seq: number) => boolean, count: number): number[]
}

/** Binary quantization: one bit per component, set when it is positive. Low bits first, padded to 32-bit words. */
export function toCode(vector: Float32Array): Uint8Array {
  const code = new Uint8Array(Math.ceil(vector.length / WORD_BITS) * 4)
  for (let i = 0; i < vector.length; i++) if ((vector[i] ?? 0) > 0) code[i >> 3] = (code[i >> 3] ?? 0) | (1 << (i & 7))
  return code
}

/** An empty collection. */
export function createVectorCodes(): VectorCodes {
  const places = new Map<number, number>()
  let seqs = new Float64Array(64)
  let words = new Uint32Array(0)
  let dims = 0
  let stride = 0

  const grow = (): void => {
    const moreSeqs = new Float64Array(seqs.length * 2)
    moreSeqs.set(seqs)
    seqs = moreSeqs
    const moreWords = new Uint32Array(seqs.length * stride)
    moreWords.set(words)
    words = moreWords
  }
  return {
    get size() {
      return places.size
    },
    seqs: () => [...places.keys()].sort((a, b) => a - b),
    has: (seq) => places.has(seq),
    put(seq, length, code) {
      if (length !== dims) {
        places.clear()
        dims = length
        stride = Math.ceil(length / WORD_BITS)
        words = new Uint32Array(seqs.length * stride)
      }
      const place = places.get(seq) ?? places.size
      places.set(seq, place)
      if (place >= seqs.length) grow()
      seqs[place] = seq
      words.set(toWords(code, stride), place * stride)
    },
    remove(seq) {
      const place = places.get(seq)
      if (place === undefined) return
      places.delete(seq)
      const last = places.size
      if (place === last) return
      // Move the last entry into the gap.
      const moved = seqs[last] ?? 0
      seqs[place] = moved
      words.copyWithin(place * stride, last * stride, (last + 1) * stride)
      places.set(moved, place)
    },
    nearest(vector, isCandidate, count) {
      if (vector.length !== dims) return []
      const asked = toWords(toCode(vector), stride)
      const size = places.size
      const distances = new Uint16Array(size)
      const starts = new Uint32Array(dims + 2)
      for (let place = 0, at = 0; place < size; place++) {
        let distance = 0
        for (let k = 0; k < stride; k++, at++) distance += countBits((words[at] ?? 0) ^ (asked[k] ?? 0))
        distances[place] = distance
        starts[distance + 1] = (starts[distance + 1] ?? 0) + 1
      }
      for (let distance = 1; distance < starts.length; distance++) starts[distance] = (starts[distance] ?? 0) + (starts[distance - 1] ?? 0)
      const sorted = new Uint32Array(size)
      for (let place = 0; place < size; place++) {
        const distance = distances[place] ?? 0
        const at = starts[distance] ?? 0
        starts[distance] = at + 1
        sorted[at] = place
      }
      const found: number[] = []
      for (let i = 0; i < size && found.length < count; i++) {
        const seq = seqs[sorted[i] ?? 0] ?? 0
        if (isCandidate(seq)) found.push(seq)
      }
      return found
    },
  }
}

/** Reads little-endian 32-bit words on any machine. */
function toWords(code: Uint8Array, stride: number): Uint32Array {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength)
  return Uint32Array.from({ length: stride }, (_, k) => (k * 4 + 4 <= code.byteLength ? view.getUint32(k * 4, true) : 0))
}
