import { expect, it } from 'vitest'
import { toEmbeddedText } from './embedded-text.ts'

it('is title, description and text, without what is not there', () => {
  expect(toEmbeddedText({ title: 'A', description: 'b', content: 'c' })).toBe('A\n\nb\n\nc')
  expect(toEmbeddedText({ title: 'A', description: '', content: 'c' })).toBe('A\n\nc')
})

it('is cut to 8,000 characters, none of them in half', () => {
  const text = toEmbeddedText({ title: 'A', description: '', content: '𝒳'.repeat(9000) })
  expect([[...text].length, text.isWellFormed()]).toEqual([8000, true])
})
