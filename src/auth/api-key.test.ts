import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createApiKey, hashApiKey, isWellFormedApiKey, looksLikeApiKey } from './credentials.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY = createApiKey(new Uint8Array(32).fill(7))
const random32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

it('has the prefix, 43 characters of randomness and 6 of check', () => {
  fc.assert(
    fc.property(random32, (random) => {
      const key = createApiKey(random)
      expect(key).toMatch(/^cpb_[0-9A-Za-z]{49}$/)
      expect(isWellFormedApiKey(key)).toBe(true)
      expect(looksLikeApiKey(key)).toBe(true)
    }),
  )
})

it('is made of the random bytes alone, and differs when they do', () => {
  expect(createApiKey(new Uint8Array(32))).toBe(createApiKey(new Uint8Array(32)))
  expect(createApiKey(new Uint8Array(32)).slice(0, 47)).toBe(`cpb_${'0'.repeat(43)}`)
  expect(createApiKey(new Uint8Array(32).fill(255))).toMatch(/^cpb_[0-9A-Za-z]{49}$/)
  fc.assert(
    fc.property(random32, random32, (a, b) => {
      expect(createApiKey(a) === createApiKey(b)).toBe(Buffer.from(a).equals(Buffer.from(b)))
    }),
  )
})

it('is new at every call', () => {
  expect(new Set(Array.from({ length: 100 }, () => createApiKey())).size).toBe(100)
})

it('is no longer well formed once any one character changes, or two neighbours are swapped', () => {
  const any = fc.oneof(fc.constantFrom(...BASE62), fc.string({ unit: 'binary', maxLength: 2 }))
  fc.assert(
    fc.property(random32, fc.nat(52), any, (random, at, other) => {
      const key = createApiKey(random)
      fc.pre(key[at] !== other)
      expect(isWellFormedApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2)
      expect(isWellFormedApiKey(swapped)).toBe(swapped === key)
    }),
  )
})

it.each(['', 'cpb_', 'pchat_abc', `cpb_${'0'.repeat(49)}`, ` ${createApiKey()}`, `${createApiKey()}\n`, KEY.toUpperCase()])(
  '%j is not well formed',
  (text) => {
    expect(isWellFormedApiKey(text)).toBe(false)
  },
)

it('is stored as its SHA-256', () => {
  // FIPS 180-2, appendix B.1
  expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
