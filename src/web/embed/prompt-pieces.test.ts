import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parsePromptPieces, readPiece } from './prompt-pieces.ts'

const marked = (text: string) => parsePromptPieces(text).flatMap(({ kind, text }) => (kind === 'text' ? [] : [`${kind} ${text}`]))

it.each([
  ['Look at @src/app.ts, then at @web.', ['mention @src/app.ts', 'mention @web']],
  ['Mail ada@example.org or @@decorated', []],
  ['@src/ ${name:@x} (@docs/a-b_c.md): @1st', ['mention @src/', 'variable ${name:@x}', 'mention @docs/a-b_c.md']],
  ['@日本語 and @', ['mention @日本語']],
])('finds variables and mentions in %j', (text, expected) => {
  expect(marked(text)).toEqual(expected)
})

it.each([
  ['Be ${tone:friendly} to ${name}', 'Be friendly to name'],
  ['${a} ${a:first}', 'first first'],
  ['${a:}.', '.'],
])('reads %j as people see it', (text, expected) => {
  expect(parsePromptPieces(text).map(readPiece).join('')).toBe(expected)
})

it('keeps every character of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('@', 'a', '.', '/', '${', '}', ':', ' ', 'ü', '-') }), (text) => {
      expect(
        parsePromptPieces(text)
          .map((piece) => piece.text)
          .join(''),
      ).toBe(text)
    }),
  )
})

it('takes linear time on texts made to take longer', () => {
  // Quadratic time would outlast the test.
  for (const part of ['@', '@a', '@a.', '${', '@a:::']) expect(parsePromptPieces(part.repeat(400_000)).length).toBeGreaterThan(0)
})
