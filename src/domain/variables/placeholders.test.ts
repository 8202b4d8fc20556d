import { describe, expect, it } from 'vitest'
import { convertPlaceholders, findPlaceholders } from './placeholders.ts'

describe('findPlaceholders', () => {
  it('finds blanks in double braces and brackets, and names the variable of each', () => {
    const text = 'Write to [CUSTOMER NAME] about {{ product }} for [CUSTOMER NAME] in [ÖFFENTLICH 2].'
    expect([...findPlaceholders(text)]).toEqual([
      ['[CUSTOMER NAME]', '${customer name}'],
      ['{{ product }}', '${product}'],
      ['[ÖFFENTLICH 2]', '${öffentlich 2}'],
    ])
    expect(convertPlaceholders(text)).toBe('Write to ${customer name} about ${product} for ${customer name} in ${öffentlich 2}.')
  })

  it.each([
    'A [LINK](https://example.org), ![IMAGE](a.png), [REF][1], [DEF]: x, [x] done, [X] done, [TODO] later',
    '${{ github.ref }} ={{a}} {{#if a}} {{a.b}} {{{raw}}} {{a|upper}} [lower] [Mixed Case] \\[NAME]',
    '`[NAME]` and\n```\n{{name}} [NAME]\n```\n',
    '[INST] Hello [USER]',
  ])('leaves %j as it is', (text) => {
    expect([...findPlaceholders(text)]).toEqual([])
    expect(convertPlaceholders(text)).toBe(text)
  })
})
