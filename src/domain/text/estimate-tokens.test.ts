import { expect, it } from 'vitest'
import { estimateTokens } from '../ports/models.ts'

it.each([
  ['', 0],
  ['a', 1],
  ['Write a release note.', 6],
  ['写一封信', 3],
])('%j is about %i tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens)
})
