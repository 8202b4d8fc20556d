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

/**
 * The dot product of a vector with the numbers of `all` from `from` on. In four sums: an addition waits for the one before it.
 * @param vector of a multiple of four numbers
 */
export function dotProduct(vector: Float64Array, all: Int8Array, from: number): number {
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = 0, at = from; i < vector.length; i += 4, at += 4) {
    first += (vector[i] ?? 0) * (all[at] ?? 0)
    second += (vector[i + 1] ?? 0) * (all[at + 1] ?? 0)
    third += (vector[i + 2] ?? 0) * (all[at + 2] ?? 0)
    fourth += (vector[i + 3] ?? 0) * (all[at + 3] ?? 0)
  }
  return first + second + third + fourth
}

/** 32-bit words that hold the sign bits of a vector of `dims` components. */
export function signWords(dims: number): number {
  return Math.ceil(dims / 32)
}

/** One bit per component, set when it is positive. Similar vectors agree in most bits. */
export function toSignBits(vector: Int8Array | Float32Array): Uint32Array {
  const signs = new Uint32Array(signWords(vector.length))
  for (let i = 0; i < vector.length; i++) if ((vector[i] ?? 0) > 0) signs[i >> 5] = (signs[i >> 5] ?? 0) | (1 << (i & 31))
  return signs
}

/**
 * Bits in which `wanted` differs from every entry of `all`, from the first on, as many as `into` has room for. In one loop without calls: a
 * large library has a million.
 */
export function hammingDistances(all: Uint32Array, wanted: Uint32Array, into: Uint16Array): void {
  const words = wanted.length
  for (let place = 0, at = 0; place < into.length; place++) {
    let different = 0
    for (let k = 0; k < words; k++, at++) {
      const bits = (all[at] ?? 0) ^ (wanted[k] ?? 0)
      const pairs = bits - ((bits >>> 1) & 0x55555555)
      const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
      different += Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
    }
    into[place] = different
  }
}

/** Population count of 32 bits. */
export function countBits(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
