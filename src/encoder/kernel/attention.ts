import { HEAD, HEADS, KT, MAX_TOKENS, max4, P, ROUND, ROUND_BITS, ROW, sum4, T, Y } from './layout.ts'

/** 2^x = 1 + E1 x + … for |x| ≤ ½. */
const E1: f32 = 0.6931472149207047
const E2: f32 = 0.24022234536162063
const E3: f32 = 0.055503083440901005
const E4: f32 = 0.009671880854546703
const E5: f32 = 0.0013407265611979336

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
export function attend(scratch: usize, tokens: i32): void {
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
