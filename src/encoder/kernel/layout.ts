// Sizes of the model and places in the kernel's scratch memory.

/** Hidden size, heads, size of a head, and inner size of the feed-forward part. */
export const H: i32 = 384
export const HEADS: i32 = 12
export const HEAD: i32 = 32
export const INNER: i32 = 1536
export const MAX_TOKENS: i32 = 128

/** Bytes of a row of hidden states. */
export const ROW: i32 = H * 4

/** Adding this number rounds a float to an integer in its low bits. */
export const ROUND: f32 = 12582912
export const ROUND_BITS: i32 = 0x4b400000

// Scratch memory, as offsets from its start.
export const X: usize = 0
export const Y: usize = X + MAX_TOKENS * ROW
export const T: usize = Y + MAX_TOKENS * ROW
export const A: usize = T + MAX_TOKENS * INNER * 4
export const S: usize = A + MAX_TOKENS * INNER * 2
export const B: usize = S + MAX_TOKENS * 4
export const KT: usize = B + INNER * 16
export const P: usize = KT + HEAD * MAX_TOKENS * 4
export const END: usize = P + 4 * MAX_TOKENS * 4

export function sum4(v: v128): f32 {
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3)
}

export function max4(v: v128): f32 {
  return max(max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)), max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)))
}
