import { describe, expect, it } from 'vitest'
import { type Marks, readMarks } from '../../search/analysis/mark-words.ts'
import { findPassage, hasMarks } from './passage.ts'

const marks = (query: string): Marks => {
  const read = readMarks(query)
  if (!read) throw new Error('no marks')
  return read
}

describe('findPassage', () => {
  const long = `${'one two three '.repeat(40)}\nThen call a plumber at once.`
  it('begins at the line of a word that stands further on', () => {
    expect(long.slice(findPassage(long, marks('plumber ')))).toBe('Then call a plumber at once.')
  })
  it('begins at a word when the line is long', () => {
    const text = `${'one two three '.repeat(40)}plumber`
    const passage = text.slice(findPassage(text, marks('plumber ')))
    expect(passage).toMatch(/^(?:one|two|three) .*plumber$/)
    expect(passage.length).toBeLessThan(100)
  })
  it.each([['plumber first'], ['nothing of it '.repeat(50)], [''], [`${'x'.repeat(9_000)} plumber`]])(
    'is the beginning otherwise',
    (text) => {
      expect(findPassage(text, marks('plumber '))).toBe(0)
    },
  )
})

it('hasMarks is whether something would be marked', () => {
  expect([hasMarks('Plumbers', marks('plumber ')), hasMarks('plum', marks('plumber '))]).toEqual([true, false])
})
