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
