import { describe, expect, it } from 'vitest'
import { DIMENSIONS, planWindows, poolWindows } from './model.ts'
import { createVocabulary, createWordPieces } from './word-pieces.ts'

const pieces = createWordPieces(createVocabulary(['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'title', 'word'].join('\n')))
const [TITLE, WORD] = [5, 6]
const repeat = (word: string, count: number) => Array.from({ length: count }, () => word).join(' ')
/** How many tokens of title and text each window has. */
const countTokens = (title: string, text: string) =>
  planWindows(pieces, { title, text }).map((window) => [TITLE, WORD].map((id) => window.filter((token) => token === id).length))

describe('the windows of an item', () => {
  it.each([
    ['', '', [[0, 0]]],
    ['title', '', [[1, 0]]],
    ['', 'word', [[0, 1]]],
    ['title', repeat('word', 125), [[1, 125]]],
    [
      'title',
      repeat('word', 126),
      [
        [1, 125],
        [1, 1],
      ],
    ],
    [
      '',
      repeat('word', 1_000),
      [
        [0, 126],
        [0, 126],
        [0, 126],
      ],
    ],
    [
      repeat('title', 1_000).slice(0, 900),
      repeat('word', 95),
      [
        [32, 94],
        [32, 1],
      ],
    ],
  ])('begin with the title (case %#)', (title, text, expected) => {
    expect(countTokens(title, text)).toEqual(expected)
  })

  it('are enclosed as the model was trained with, and have at most 128 tokens', () => {
    for (const window of planWindows(pieces, { title: 'title', text: repeat('word', 500) })) {
      expect([window[0], window.at(-1)]).toEqual([101, 102])
      expect(window.length).toBeLessThanOrEqual(128)
    }
  })

  it('are three for 200,000 characters, which are not read to the end', () => {
    expect(countTokens('title', 'word '.repeat(40_000))).toEqual([
      [1, 125],
      [1, 125],
      [1, 125],
    ])
  })
})

describe("an item's vector", () => {
  const axis = (place: number) => Float32Array.from({ length: DIMENSIONS }, (_, at) => (at === place ? 1 : 0))

  it('is the first window plus the mean by tokens, as integers up to 127', () => {
    const vector = poolWindows([axis(0), axis(1), axis(2)], [60, 30, 30])
    // 1 + 1/2, 1/4 and 1/4.
    expect([...vector.subarray(0, 4)]).toEqual([127, 21, 21, 0])
  })

  it('of one window is the vector of the window', () => {
    const window = Float32Array.from({ length: DIMENSIONS }, (_, at) => (at % 2 === 0 ? -0.1 : 0.05))
    expect([...poolWindows([window], [7]).subarray(0, 4)]).toEqual([-127, 64, -127, 64])
  })
})
