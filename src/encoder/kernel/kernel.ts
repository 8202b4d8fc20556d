// The forward pass of all-MiniLM-L6-v2 (BERT, 6 layers) in AssemblyScript: weights of 8 bits, activations of 12 bits in products, float elsewhere.
// scripts/make-encoder.ts compiles it and lays out the weights. Fixed SIMD only: relaxed instructions give other results on other processors.

import { attend } from './attention.ts'
import { END, H, INNER, ROW, sum4, T, X, Y } from './layout.ts'
import { linear, linearBytes, quantize } from './linear.ts'

/** Bytes of scratch memory. */
export function scratchBytes(): usize {
  return END
}

/** Where `embed` finds the tokens (u32) in the scratch memory. */
export function tokensOffset(): usize {
  return T
}

/** Where `pool` leaves the vector (384 f32) in the scratch memory. */
export function vectorOffset(): usize {
  return Y
}
/** x = LayerNorm(x + y), row by row. Weights: gain, bias. */
function addNorm(x: usize, y: usize, tokens: i32, weights: usize): void {
  for (let m = 0; m < tokens; m++) {
    let sum = f32x4.splat(0)
    for (let k = 0; k < ROW; k += 16) {
      const value = f32x4.add(v128.load(x + k), v128.load(y + k))
      v128.store(x + k, value)
      sum = f32x4.add(sum, value)
    }
    const mean = f32x4.splat(sum4(sum) / <f32>H)
    let squares = f32x4.splat(0)
    for (let k = 0; k < ROW; k += 16) {
      const value = f32x4.sub(v128.load(x + k), mean)
      v128.store(x + k, value)
      squares = f32x4.add(squares, f32x4.mul(value, value))
    }
    const factor = f32x4.splat(1 / Mathf.sqrt(sum4(squares) / <f32>H + 1e-12))
    for (let k = 0; k < ROW; k += 16) {
      const gain = v128.load(weights + k)
      v128.store(x + k, f32x4.add(f32x4.mul(f32x4.mul(v128.load(x + k), factor), gain), v128.load(weights + k, ROW)))
    }
    x += ROW
    y += ROW
  }
}

/** Embeds tokens. `table`: a scale and 384 bytes for each token; `positions`: rows of floats. */
export function embed(table: usize, positions: usize, norm: usize, scratch: usize, tokens: i32, vocabulary: i32): void {
  const ids = scratch + T
  const rows = table + vocabulary * 4
  for (let m = 0; m < tokens; m++) {
    const id = load<u32>(ids + m * 4)
    const scale = f32x4.splat(load<f32>(table + id * 4))
    const from = rows + id * H
    const x = scratch + X + m * ROW
    const position = positions + m * ROW
    for (let k = 0; k < H; k += 8) {
      const wide = v128.load_ext<i8>(from + k)
      const low = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(wide))
      const high = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(wide))
      v128.store(x + k * 4, f32x4.add(f32x4.mul(low, scale), v128.load(position + k * 4)))
      v128.store(x + k * 4, f32x4.add(f32x4.mul(high, scale), v128.load(position + k * 4, 16)), 16)
    }
  }
  memory.fill(scratch + Y, 0, tokens * ROW)
  addNorm(scratch + X, scratch + Y, tokens, norm)
}

/** One layer of the encoder. */
export function layer(weights: usize, scratch: usize, tokens: i32): void {
  const x = scratch + X
  const y = scratch + Y
  const t = scratch + T
  let w = weights
  quantize(x, scratch, tokens, H)
  linear(w, scratch, t, tokens, 3 * H, H, false, false)
  w += linearBytes(3 * H, H)
  attend(scratch, tokens)
  quantize(y, scratch, tokens, H)
  linear(w, scratch, t, tokens, H, H, false, false)
  w += linearBytes(H, H)
  addNorm(x, t, tokens, w)
  w += 2 * ROW
  quantize(x, scratch, tokens, H)
  linear(w, scratch, t, tokens, INNER, H, true, false)
  w += linearBytes(INNER, H)
  quantize(t, scratch, tokens, INNER)
  linear(w, scratch, y, tokens, H, INNER, false, true)
  w += linearBytes(H, INNER, true)
  addNorm(x, y, tokens, w)
}

/** Bytes of a layer's weights. */
export function layerBytes(): usize {
  return linearBytes(3 * H, H) + linearBytes(H, H) + linearBytes(INNER, H) + linearBytes(H, INNER, true) + 4 * ROW
}

/** The mean of the hidden states, of unit length, at the start of Y. */
export function pool(scratch: usize, tokens: i32): void {
  const y = scratch + Y
  let squares = f32x4.splat(0)
  for (let k = 0; k < ROW; k += 16) {
    let sum = f32x4.splat(0)
    for (let m = 0; m < tokens; m++) sum = f32x4.add(sum, v128.load(scratch + X + m * ROW + k))
    v128.store(y + k, sum)
    squares = f32x4.add(squares, f32x4.mul(sum, sum))
  }
  const factor = f32x4.splat(1 / Mathf.sqrt(sum4(squares)))
  for (let k = 0; k < ROW; k += 16) v128.store(y + k, f32x4.mul(v128.load(y + k), factor))
}
