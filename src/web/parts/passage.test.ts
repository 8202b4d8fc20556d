import { describe, expect, it } from 'vitest'
import { type Marks, readMarks } from '../../search/analysis/mark-words.ts'
import { findPassage, readPassage, readStart } from './passage.ts'

const marks = (query: string): Marks => {
  const read = readMarks(query)
  if (!read) throw new Error('no marks')
  return read
}

describe('findPassage', () => {
  const long = `${'one two three '.repeat(40)}\nThen call a plumber at once.`
  it('begins at the line of a word that stands further on', () => {
    expect(long.slice(findPassage(readStart(long), marks('plumber ')))).toBe('Then call a plumber at once.')
  })
  it('begins at a word when the line is long', () => {
    const text = `${'one two three '.repeat(40)}plumber`
    const passage = text.slice(findPassage(readStart(text), marks('plumber ')))
    expect(passage).toMatch(/^(?:one|two|three) .*plumber$/)
    expect(passage.length).toBeLessThan(100)
  })
  it.each([['plumber first'], ['nothing of it '.repeat(50)], [''], [`${'x'.repeat(9_000)} plumber`]])(
    'is the beginning otherwise',
    (text) => {
      expect(findPassage(readStart(text), marks('plumber '))).toBe(0)
    },
  )
})

describe('readPassage', () => {
  const shown = (text: string, start: number) =>
    readPassage(text, start)
      .map((piece) => ('text' in piece ? piece.text : piece.blank))
      .join('')
  it('is the first words from a place on, without markup', () => {
    expect(shown('# Title\n\nCall a **plumber**, ${name}.', 9)).toBe('Call a plumber, name.')
  })
  it('reads a long text no further than it shows', () => {
    expect(shown(`${'word '.repeat(100_000)}`, 5).length).toBeLessThanOrEqual(240)
  })
})
