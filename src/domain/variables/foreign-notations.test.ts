import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { convertPlaceholders, findPlaceholders, fromLangfuseText, toLangfuseText } from './foreign-notations.ts'
import { fillVariables, parseVariables } from './variables.ts'

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

describe('texts of Langfuse', () => {
  it.each([
    ['Hi {{name}}!', 'Hi ${name}!'],
    ['Hi {{ first name }}', 'Hi ${ first name }'],
    ['{"a": {{x}}}', '{"a": ${x}}'],
    ['costs ${{amount}}', 'costs $${amount}'],
    ['say ${x} and ${y:z}', 'say \\${x} and \\${y:z}'],
    ['C:\\{{x}}', 'C:\\\\${x}'],
    ['C:\\${x}', 'C:\\\\\\${x}'],
    ['{{{x}}} {{#each a}} {{user.name}} ${{ secrets.KEY }}', '{{{x}}} {{#each a}} {{user.name}} ${{ secrets.KEY }}'],
    ['@@@langfusePrompt:name=tone|label=production@@@', '${> tone@production}'],
    ['@@@langfusePrompt:name=tone|version=3@@@', '${> tone@3}'],
    ['@@@langfusePrompt:name=a/b|version=3@@@', '@@@langfusePrompt:name=a/b|version=3@@@'],
    ['@@@langfusePrompt:name=tone|label=3@@@', '@@@langfusePrompt:name=tone|label=3@@@'],
    ['${> tone}', '\\${> tone}'],
    ['${a:{{b}}}', '\\${a:{{b}}}'],
  ])('%s is %s here', (theirs, ours) => {
    expect(fromLangfuseText(theirs)).toBe(ours)
    expect(toLangfuseText(ours, 2)).toBe(theirs)
  })

  it('come back to the letter, whatever stands in them', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '${',
      '}',
      '\\',
      'a',
      'b1',
      ' ',
      ':',
      '{{a}}',
      '${a}',
      '${> a}',
      '@@@langfusePrompt:name=a|label=b@@@',
      '\n',
      '$',
      '\t',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
        (text) => {
          expect(toLangfuseText(fromLangfuseText(text), 2)).toBe(text)
        },
      ),
    )
    const many = Array.from({ length: 150 }, (_, index) => `{{v${index}}}`).join('')
    expect(toLangfuseText(fromLangfuseText(many), 2)).toBe(many)
  })

  it('mean the same here: literals stay, and variables are filled', () => {
    const ours = fromLangfuseText('${x} {{x}} \\{{x}}')
    expect(parseVariables(ours).variables).toEqual([{ name: 'x', required: true }])
    expect(fillVariables(ours, new Map([['x', '1']])).text).toBe('${x} 1 \\1')
  })

  it('lose defaults', () => {
    expect(toLangfuseText('${tone:formal} ${tone}', 2)).toBe('{{tone}} {{tone}}')
    expect(toLangfuseText('\\${x}', 1)).toBe('\\{{x}}')
    expect(toLangfuseText('${> part}', 2)).toBe('@@@langfusePrompt:name=part|label=latest@@@')
  })
})
