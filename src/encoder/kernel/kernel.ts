// The forward pass of all-MiniLM-L6-v2 (BERT, 6 layers) in AssemblyScript: weights of 8 bits, activations of 12 bits in products, float elsewhere.
// scripts/make-encoder.ts compiles it and lays out the weights. Fixed SIMD only: relaxed instructions give other results on other processors.

/** Hidden size, heads, size of a head, and inner size of the feed-forward part. */
const H: i32 = 384
const HEADS: i32 = 12
const HEAD: i32 = 32
const INNER: i32 = 1536
const MAX_TOKENS: i32 = 128

/** Φ(x) − ½ = x (G0 + G1 x² + …) up to |x| = 4; 2^x = 1 + E1 x + … for |x| ≤ ½. */
const G0: f32 = 0.3986733936991035
const G1: f32 = -0.06588784229925085
const G2: f32 = 0.00950539784885027
const G3: f32 = -0.0010064902597275603
const G4: f32 = 7.485502323089807e-5
const G5: f32 = -3.657130898657255e-6
const G6: f32 = 1.0419595889426194e-7
const G7: f32 = -1.3012929767492009e-9
const E1: f32 = 0.6931472149207047
const E2: f32 = 0.24022234536162063
const E3: f32 = 0.055503083440901005
const E4: f32 = 0.009671880854546703
const E5: f32 = 0.0013407265611979336

/** Bytes of a row of hidden states. */
const ROW: i32 = H * 4

/** Bytes of a linear layer's scales, biases and weights. */
function linearBytes(outputs: i32, inputs: i32, isWide: bool = false): usize {
  return outputs * 8 + outputs * inputs * (isWide ? 2 : 1)
}

/** Largest quantized activation: 12 bits, so that 1536 products with weights of at most 683 fit into 32 bits. */
const QUANT_MAX: f32 = 2047
/** Adding this number rounds a float to an integer in its low bits. */
const ROUND: f32 = 12582912
const ROUND_BITS: i32 = 0x4b400000

// Scratch memory, as offsets from its start.
const X: usize = 0
const Y: usize = X + MAX_TOKENS * ROW
const T: usize = Y + MAX_TOKENS * ROW
const A: usize = T + MAX_TOKENS * INNER * 4
const S: usize = A + MAX_TOKENS * INNER * 2
const B: usize = S + MAX_TOKENS * 4
const KT: usize = B + INNER * 16
const P: usize = KT + HEAD * MAX_TOKENS * 4
const END: usize = P + 4 * MAX_TOKENS * 4

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

function sum4(v: v128): f32 {
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3)
}

function max4(v: v128): f32 {
  return max(max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)), max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)))
}

/** The factor that scales a row to `QUANT_MAX`; stores its inverse. */
function rowFactor(row: usize, inputs: i32, scale: usize): f32 {
  let largest = f32x4.splat(0)
  for (let k = 0; k < inputs * 4; k += 16) largest = f32x4.pmax(largest, f32x4.abs(v128.load(row + k)))
  let max: f32 = max4(largest)
  if (max == 0) max = 1
  store<f32>(scale, max / QUANT_MAX)
  return QUANT_MAX / max
}

/** Eight floats as eight 16-bit integers. */
function quant8(at: usize, factor: v128): v128 {
  const round = f32x4.splat(ROUND)
  const bits = i32x4.splat(ROUND_BITS)
  const low = i32x4.sub(f32x4.add(f32x4.mul(v128.load(at), factor), round), bits)
  const high = i32x4.sub(f32x4.add(f32x4.mul(v128.load(at, 16), factor), round), bits)
  return i16x8.narrow_i32x4_s(low, high)
}

/** Quantizes rows to 16 bits, packed for `linear`: blocks of four rows, in which pairs of inputs alternate by row. The rows after the last are zero. */
function quantize(from: usize, scratch: usize, tokens: i32, inputs: i32): void {
  const scales = scratch + S
  let to = scratch + A
  for (let m = 0; m < tokens; m += 4) {
    const r0 = from + m * inputs * 4
    const r1 = m + 1 < tokens ? r0 + inputs * 4 : r0
    const r2 = m + 2 < tokens ? r1 + inputs * 4 : r0
    const r3 = m + 3 < tokens ? r2 + inputs * 4 : r0
    const s = scales + m * 4
    const f0 = f32x4.splat(rowFactor(r0, inputs, s))
    const f1 = f32x4.splat(rowFactor(r1, inputs, s + 4))
    const f2 = f32x4.splat(rowFactor(r2, inputs, s + 8))
    const f3 = f32x4.splat(rowFactor(r3, inputs, s + 12))
    for (let k = 0; k < inputs * 4; k += 32) {
      const a = quant8(r0 + k, f0)
      const b = quant8(r1 + k, f1)
      const c = quant8(r2 + k, f2)
      const d = quant8(r3 + k, f3)
      const ab0 = v128.shuffle<i32>(a, b, 0, 4, 1, 5)
      const cd0 = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
      const ab1 = v128.shuffle<i32>(a, b, 2, 6, 3, 7)
      const cd1 = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
      v128.store(to, v128.shuffle<i64>(ab0, cd0, 0, 2))
      v128.store(to, v128.shuffle<i64>(ab0, cd0, 1, 3), 16)
      v128.store(to, v128.shuffle<i64>(ab1, cd1, 0, 2), 32)
      v128.store(to, v128.shuffle<i64>(ab1, cd1, 1, 3), 48)
      to += 64
    }
  }
}

/** x Φ(x), with the normal distribution's Φ as a polynomial up to |x| = 4. */
function gelu(x: v128): v128 {
  const t = f32x4.pmax(f32x4.pmin(x, f32x4.splat(4)), f32x4.splat(-4))
  const s = f32x4.mul(t, t)
  let p = f32x4.splat(G7)
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(G6))
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(G5))
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(G4))
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(G3))
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(G2))
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(G1))
  p = f32x4.add(f32x4.mul(p, s), f32x4.splat(G0))
  return f32x4.mul(x, f32x4.add(f32x4.mul(p, t), f32x4.splat(0.5)))
}

function finish(sum: v128, scale: v128, row: f32, bias: v128, isGelu: bool): v128 {
  const value = f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(sum), f32x4.mul(scale, f32x4.splat(row))), bias)
  return isGelu ? gelu(value) : value
}

/**
 * `to` = the quantized rows × weights + bias. Weights: scales, biases, then panels of eight outputs, in which pairs of inputs alternate by output.
 * `isWide`: they have 16 bits instead of 8.
 */
function linear(weights: usize, scratch: usize, to: usize, tokens: i32, outputs: i32, inputs: i32, isGelu: bool, isWide: bool): void {
  let wide = scratch + B
  let panel = weights + outputs * 8
  for (let n = 0; n < outputs; n += 8) {
    if (isWide) {
      wide = panel
      panel += inputs * 16
    } else {
      for (let w = wide; w < wide + inputs * 16; w += 32) {
        v128.store(w, v128.load_ext<i8>(panel))
        v128.store(w, v128.load_ext<i8>(panel, 8), 16)
        panel += 16
      }
    }
    const wideEnd = wide + inputs * 16
    const scale0 = v128.load(weights + n * 4)
    const scale1 = v128.load(weights + n * 4, 16)
    const bias0 = v128.load(weights + (outputs + n) * 4)
    const bias1 = v128.load(weights + (outputs + n) * 4, 16)
    let a = scratch + A
    let c = to + n * 4
    let s = scratch + S
    const next = outputs * 4
    for (let m = 0; m < tokens; m += 4) {
      let c00 = i32x4.splat(0),
        c01 = c00,
        c10 = c00,
        c11 = c00,
        c20 = c00,
        c21 = c00,
        c30 = c00,
        c31 = c00
      for (let w = wide; w < wideEnd; w += 64) {
        let w0 = v128.load(w),
          w1 = v128.load(w, 16)
        let x = v128.load32_splat(a)
        c00 = i32x4.add(c00, i32x4.dot_i16x8_s(x, w0))
        c01 = i32x4.add(c01, i32x4.dot_i16x8_s(x, w1))
        x = v128.load32_splat(a, 4)
        c10 = i32x4.add(c10, i32x4.dot_i16x8_s(x, w0))
        c11 = i32x4.add(c11, i32x4.dot_i16x8_s(x, w1))
        x = v128.load32_splat(a, 8)
        c20 = i32x4.add(c20, i32x4.dot_i16x8_s(x, w0))
        c21 = i32x4.add(c21, i32x4.dot_i16x8_s(x, w1))
        x = v128.load32_splat(a, 12)
        c30 = i32x4.add(c30, i32x4.dot_i16x8_s(x, w0))
        c31 = i32x4.add(c31, i32x4.dot_i16x8_s(x, w1))
        w0 = v128.load(w, 32)
        w1 = v128.load(w, 48)
        x = v128.load32_splat(a, 16)
        c00 = i32x4.add(c00, i32x4.dot_i16x8_s(x, w0))
        c01 = i32x4.add(c01, i32x4.dot_i16x8_s(x, w1))
        x = v128.load32_splat(a, 20)
        c10 = i32x4.add(c10, i32x4.dot_i16x8_s(x, w0))
        c11 = i32x4.add(c11, i32x4.dot_i16x8_s(x, w1))
        x = v128.load32_splat(a, 24)
        c20 = i32x4.add(c20, i32x4.dot_i16x8_s(x, w0))
        c21 = i32x4.add(c21, i32x4.dot_i16x8_s(x, w1))
        x = v128.load32_splat(a, 28)
        c30 = i32x4.add(c30, i32x4.dot_i16x8_s(x, w0))
        c31 = i32x4.add(c31, i32x4.dot_i16x8_s(x, w1))
        a += 32
      }
      const s0 = load<f32>(s),
        s1 = load<f32>(s, 4),
        s2 = load<f32>(s, 8),
        s3 = load<f32>(s, 12)
      v128.store(c, finish(c00, scale0, s0, bias0, isGelu))
      v128.store(c, finish(c01, scale1, s0, bias1, isGelu), 16)
      c += next
      v128.store(c, finish(c10, scale0, s1, bias0, isGelu))
      v128.store(c, finish(c11, scale1, s1, bias1, isGelu), 16)
      c += next
      v128.store(c, finish(c20, scale0, s2, bias0, isGelu))
      v128.store(c, finish(c21, scale1, s2, bias1, isGelu), 16)
      c += next
      v128.store(c, finish(c30, scale0, s3, bias0, isGelu))
      v128.store(c, finish(c31, scale1, s3, bias1, isGelu), 16)
      c += next
      s += 16
    }
  }
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

/** e^x for x ≤ 0. */
function exp(x: v128): v128 {
  const y = f32x4.mul(f32x4.pmax(x, f32x4.splat(-80)), f32x4.splat(1.44269504))
  const rounded = f32x4.add(y, f32x4.splat(ROUND))
  const r = f32x4.sub(y, f32x4.sub(rounded, f32x4.splat(ROUND)))
  let p = f32x4.splat(E5)
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(E4))
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(E3))
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(E2))
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(E1))
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1))
  return i32x4.add(p, i32x4.shl(i32x4.sub(rounded, i32x4.splat(ROUND_BITS)), 23))
}

/** Softmax of a row of scores in place, of which `tokens` count; gives the inverse of the sum. */
function softmax(row: usize, tokens: i32): f32 {
  const end = row + tokens * 4
  const padded = row + ((tokens + 3) & ~3) * 4
  for (let p = end; p < padded; p += 4) store<f32>(p, -1e30)
  let largest = v128.load(row)
  for (let p = row; p < padded; p += 16) largest = f32x4.pmax(largest, v128.load(p))
  const top = f32x4.splat(max4(largest))
  let sum = f32x4.splat(0)
  for (let p = row; p < padded; p += 16) {
    const value = exp(f32x4.sub(v128.load(p), top))
    v128.store(p, value)
    sum = f32x4.add(sum, value)
  }
  return 1 / sum4(sum)
}

/** Self-attention: queries, keys and values of T to rows of Y. */
function attend(scratch: usize, tokens: i32): void {
  const qkv = scratch + T
  const kt = scratch + KT
  const scores = scratch + P
  const width = 3 * ROW
  const line = ((tokens + 7) & ~7) * 4
  for (let h = 0; h < HEADS; h++) {
    const q = qkv + h * HEAD * 4
    const k = q + ROW
    const v = k + ROW
    memory.fill(kt, 0, HEAD * line)
    for (let j = 0; j < tokens; j++) {
      for (let d = 0; d < HEAD; d++) {
        store<f32>(kt + d * line + j * 4, load<f32>(k + j * width + d * 4) * <f32>0.17677669529)
      }
    }
    for (let i = 0; i < tokens; i += 4) {
      const q0 = q + i * width
      const q1 = i + 1 < tokens ? q0 + width : q0
      const q2 = i + 2 < tokens ? q1 + width : q0
      const q3 = i + 3 < tokens ? q2 + width : q0
      for (let j = 0; j < line; j += 32) {
        let s00 = f32x4.splat(0),
          s01 = s00,
          s10 = s00,
          s11 = s00,
          s20 = s00,
          s21 = s00,
          s30 = s00,
          s31 = s00
        let column = kt + j
        for (let d = 0; d < HEAD * 4; d += 4) {
          const k0 = v128.load(column),
            k1 = v128.load(column, 16)
          let x = v128.load32_splat(q0 + d)
          s00 = f32x4.add(s00, f32x4.mul(x, k0))
          s01 = f32x4.add(s01, f32x4.mul(x, k1))
          x = v128.load32_splat(q1 + d)
          s10 = f32x4.add(s10, f32x4.mul(x, k0))
          s11 = f32x4.add(s11, f32x4.mul(x, k1))
          x = v128.load32_splat(q2 + d)
          s20 = f32x4.add(s20, f32x4.mul(x, k0))
          s21 = f32x4.add(s21, f32x4.mul(x, k1))
          x = v128.load32_splat(q3 + d)
          s30 = f32x4.add(s30, f32x4.mul(x, k0))
          s31 = f32x4.add(s31, f32x4.mul(x, k1))
          column += line
        }
        const p = scores + j
        v128.store(p, s00)
        v128.store(p, s01, 16)
        v128.store(p, s10, MAX_TOKENS * 4)
        v128.store(p, s11, MAX_TOKENS * 4 + 16)
        v128.store(p, s20, MAX_TOKENS * 8)
        v128.store(p, s21, MAX_TOKENS * 8 + 16)
        v128.store(p, s30, MAX_TOKENS * 12)
        v128.store(p, s31, MAX_TOKENS * 12 + 16)
      }
      const f0 = f32x4.splat(softmax(scores, tokens))
      const f1 = f32x4.splat(softmax(scores + MAX_TOKENS * 4, tokens))
      const f2 = f32x4.splat(softmax(scores + MAX_TOKENS * 8, tokens))
      const f3 = f32x4.splat(softmax(scores + MAX_TOKENS * 12, tokens))
      for (let d = 0; d < HEAD * 4; d += 32) {
        let o00 = f32x4.splat(0),
          o01 = o00,
          o10 = o00,
          o11 = o00,
          o20 = o00,
          o21 = o00,
          o30 = o00,
          o31 = o00
        let value = v + d
        const end = scores + tokens * 4
        for (let p = scores; p < end; p += 4) {
          const v0 = v128.load(value),
            v1 = v128.load(value, 16)
          let x = v128.load32_splat(p)
          o00 = f32x4.add(o00, f32x4.mul(x, v0))
          o01 = f32x4.add(o01, f32x4.mul(x, v1))
          x = v128.load32_splat(p, MAX_TOKENS * 4)
          o10 = f32x4.add(o10, f32x4.mul(x, v0))
          o11 = f32x4.add(o11, f32x4.mul(x, v1))
          x = v128.load32_splat(p, MAX_TOKENS * 8)
          o20 = f32x4.add(o20, f32x4.mul(x, v0))
          o21 = f32x4.add(o21, f32x4.mul(x, v1))
          x = v128.load32_splat(p, MAX_TOKENS * 12)
          o30 = f32x4.add(o30, f32x4.mul(x, v0))
          o31 = f32x4.add(o31, f32x4.mul(x, v1))
          value += width
        }
        const o = scratch + Y + i * ROW + h * HEAD * 4 + d
        v128.store(o, f32x4.mul(o00, f0))
        v128.store(o, f32x4.mul(o01, f0), 16)
        v128.store(o, f32x4.mul(o10, f1), ROW)
        v128.store(o, f32x4.mul(o11, f1), ROW + 16)
        v128.store(o, f32x4.mul(o20, f2), 2 * ROW)
        v128.store(o, f32x4.mul(o21, f2), 2 * ROW + 16)
        v128.store(o, f32x4.mul(o30, f3), 3 * ROW)
        v128.store(o, f32x4.mul(o31, f3), 3 * ROW + 16)
      }
    }
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
