import fc from 'fast-check'
import { expect, it } from 'vitest'
import { wrapText } from './card.ts'

it('breaks at spaces, in words that are too long, and at line ends', () => {
  expect(wrapText('one two three\nfour', 5, 9)).toEqual(['one two', 'three', 'four'])
  expect(wrapText('abcdefghij', 2.2, 9)).toEqual(['abcd', 'efgh', 'ij'])
  expect(wrapText('日本語の文', 2, 9)).toEqual(['日本', '語の', '文'])
  expect(wrapText('', 5, 9)).toEqual([])
})

it('says when there is more', () => {
  expect(wrapText('one two three four', 4, 2)).toEqual(['one two', 'three…'])
})

it('loses no character but spaces, and parts no sign', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'W', ' ', '\n', '日', '💥', 'é') }),
      fc.integer({ min: 2, max: 9 }),
      (text, width) => {
        expect(wrapText(text, width, 10_000).join('').replaceAll(' ', '')).toBe(text.replaceAll(/[ \n]/g, ''))
      },
    ),
  )
})
