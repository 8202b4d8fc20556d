import { A, B, max4, ROUND, ROUND_BITS, S } from './layout.ts'

/** Φ(x) − ½ = x (G0 + G1 x² + …) up to |x| = 4. */
const G0: f32 = 0.3986733936991035
const G1: f32 = -0.06588784229925085
const G2: f32 = 0.00950539784885027
const G3: f32 = -0.0010064902597275603
const G4: f32 = 7.485502323089807e-5
const G5: f32 = -3.657130898657255e-6
const G6: f32 = 1.0419595889426194e-7
const G7: f32 = -1.3012929767492009e-9

/** Largest quantized activation: 12 bits, so that 1536 products with weights of at most 683 fit into 32 bits. */
const QUANT_MAX: f32 = 2047
/** Bytes of a linear layer's scales, biases and weights. */
export function linearBytes(outputs: i32, inputs: i32, isWide: bool = false): usize {
  return outputs * 8 + outputs * inputs * (isWide ? 2 : 1)
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
export function quantize(from: usize, scratch: usize, tokens: i32, inputs: i32): void {
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
export function linear(
  weights: usize,
  scratch: usize,
  to: usize,
  tokens: i32,
  outputs: i32,
  inputs: i32,
  isGelu: bool,
  isWide: bool,
): void {
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
