import { expect, it } from 'vitest'
import { toBytes, toVector } from './vector-bytes.ts'

it('keeps vectors as little-endian floats, from any place in a buffer', () => {
  const vector = Float32Array.of(1, -0.5, 0.1)
  expect([...toBytes(vector).subarray(0, 8)]).toEqual([0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf])
  const shifted = new Uint8Array(13)
  shifted.set(toBytes(vector), 1)
  expect(toVector(shifted.subarray(1))).toEqual(vector)
  expect(toBytes(new Float32Array([9, 1, -0.5, 0.1]).subarray(1))).toEqual(toBytes(vector))
})

it('refuses what is no whole number of floats', () => {
  expect(() => toVector(new Uint8Array(7))).toThrow(expect.objectContaining({ code: 'internal' }))
})
