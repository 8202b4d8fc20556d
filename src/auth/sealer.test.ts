import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSealer } from './sealer.ts'

const sealer = createSealer('a1'.repeat(32))
const wellFormed = fc.string({ unit: 'grapheme', maxLength: 100 })

it('opens what it sealed, the empty text too', () => {
  fc.assert(
    fc.property(wellFormed, (text) => {
      expect(sealer.open('test', sealer.seal('test', text))).toBe(text)
    }),
  )
  expect(sealer.open('test', sealer.seal('test', ''))).toBe('')
})

it('opens to null once any character is changed, added or taken away', () => {
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .\n'
  fc.assert(
    fc.property(wellFormed, fc.nat(), fc.constantFrom(...characters), (text, position, other) => {
      const token = sealer.seal('test', text)
      const at = position % token.length
      expect(sealer.open('test', token.slice(0, at) + token.slice(at + 1))).toBeNull()
      expect(sealer.open('test', token.slice(0, at) + other + token.slice(at))).toBeNull()
      fc.pre(token[at] !== other)
      expect(sealer.open('test', token.slice(0, at) + other + token.slice(at + 1))).toBeNull()
    }),
  )
})

it('opens nothing sealed with another key', () => {
  expect(createSealer('a2'.repeat(32)).open('test', sealer.seal('test', 'text'))).toBeNull()
})

it('opens what another instance sealed with the same key', () => {
  expect(createSealer('a1'.repeat(32)).open('test', sealer.seal('test', 'text'))).toBe('text')
})

it('does not show the text, nor that two texts are the same', () => {
  const token = sealer.seal('test', 'a text to be kept')
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('text')
  expect(sealer.seal('test', 'a text to be kept')).not.toBe(token)
  expect(token).toMatch(/^[A-Za-z0-9_-]+$/)
})

it('opens any text that is no token to null', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (token) => {
      expect(sealer.open('test', token)).toBeNull()
    }),
  )
})

it('opens nothing under another purpose', () => {
  expect(sealer.open('skills', sealer.seal('prompts', 'text'))).toBeNull()
  expect(sealer.open('', sealer.seal('prompts', 'text'))).toBeNull()
})
