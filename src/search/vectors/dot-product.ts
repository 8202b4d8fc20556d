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
