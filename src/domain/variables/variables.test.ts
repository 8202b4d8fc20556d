import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import {
  fillVariables,
  labelVariable,
  MAX_FILLED_TEXT,
  MAX_VARIABLE_NAME,
  MAX_VARIABLE_VALUE,
  MAX_VARIABLES,
  parseVariables,
  writePieces,
} from './variables.ts'

/** The names found in a text, in order of first occurrence. */
const namesIn = (text: string) => parseVariables(text).variables.map((variable) => variable.name)
const fill = (text: string, values: Record<string, string>) => fillVariables(text, new Map(Object.entries(values)))

/** The code of the AppError a call throws. */
function codeOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
  return 'nothing was thrown'
}

/** Texts made of the pieces that matter to the scanner, so that nested, broken and repeated forms come up often. */
const trickyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('${', '{', '}', ':', '$', 'a', 'b', ' ', '\n', 'é', 'e\u0301', '😀', '${a}', '${b:x}', '\ud800'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => pieces.join(''))

describe('names', () => {
  it.each(['name', '_x', 'a1', 'first name', "author's-name", 'and/or', 'имя', '名前', 'नाम', 'اسم', 'y٣', '  padded  ', '𝒳'])(
    'of %j make a variable',
    (name) => {
      expect(parseVariables(`\${${name}}`).variables).toEqual([{ name: name.trim(), required: true }])
    },
  )

  it.each([
    '${}',
    '${ }',
    '${1a}',
    '${-a}',
    "${'a}",
    '${/a}',
    '${user.name}',
    '${f(x)}',
    '${a$b}',
    '${a\nb}',
    '${a\tb}',
    '${a"b}',
    '${a😀}',
    '${:default}',
    '${ :default}',
    '${a',
    '$ {a}',
    '$a',
    '{a}',
    '{{a}}',
    '${{a}}',
    '${\u0301a}',
  ])('%j is text', (text) => {
    expect(parseVariables(text)).toEqual({ segments: [{ kind: 'text', raw: text, text }], variables: [] })
    expect(fill(text, { a: 'X', '': 'X', 'user.name': 'X', '1a': 'X' })).toEqual({ text, unfilled: [] })
  })

  it('have at most 64 characters, measured in NFC, so that the spelling does not decide', () => {
    expect(MAX_VARIABLE_NAME).toBe(64)
    for (const [length, count] of [
      [63, 1],
      [64, 1],
      [65, 0],
    ] as const) {
      for (const name of ['n'.repeat(length), '𝒳'.repeat(length), `  ${'n'.repeat(length)}  `])
        expect(namesIn(`\${${name}}`)).toHaveLength(count)
    }
    expect(namesIn(`\${${'e\u0301'.repeat(64)}}`)).toEqual(['é'.repeat(64)])
  })

  it('compares names in NFC', () => {
    expect(namesIn('${caf\u00e9} ${cafe\u0301}')).toEqual(['caf\u00e9'])
    expect(fill('${cafe\u0301}', { 'caf\u00e9': 'bar' }).text).toBe('bar')
    expect(fill('${caf\u00e9}', { 'cafe\u0301': 'bar' }).text).toBe('bar')
  })

  it('tells names apart by case', () => {
    expect(fill('${a} ${A}', { a: '1' })).toEqual({ text: '1 ${A}', unfilled: ['A'] })
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is a name like any other', (name) => {
    const text = `\${${name}}`
    expect(namesIn(text)).toEqual([name])
    expect(fillVariables(text, new Map())).toEqual({ text, unfilled: [name] })
    expect(fillVariables(text, new Map([[name, 'v']])).text).toBe('v')
  })
})

describe('defaults', () => {
  it.each([
    ['${a:b}', 'b'],
    ['${a:}', ''],
    ['${a: b }', ' b '],
    ['${a:b:c}', 'b:c'],
    ['${a:{"k": {"n": 1}}}', '{"k": {"n": 1}}'],
    ['${a:${b}}', '${b}'],
    ['${a:${b:c}}', '${b:c}'],
    ['${a:line\nline}', 'line\nline'],
    ['${a:😀}', '😀'],
  ])('%s defaults to %j', (text, value) => {
    expect(parseVariables(text).variables).toEqual([{ name: 'a', required: false, default: value }])
    expect(fill(text, {})).toEqual({ text: value, unfilled: [] })
  })

  it('ends a default at the brace that closes it and goes on after', () => {
    expect(fill('${a:{x}}} ${b:y}', {}).text).toBe('{x}} y')
  })

  it.each(['${a:b', '${a:{b}', '${a:${b}', '${a:{{}'])('takes %s, whose brace never closes, as text', (text) => {
    expect(namesIn(text)).not.toContain('a')
    expect(fill(text, {}).text).toBe(text)
  })

  it('still reads what follows a default that never closes, and no variable inside a default', () => {
    expect(fill('${a:{ ${b}', { b: 'B' }).text).toBe('${a:{ B')
    expect(namesIn('${a:${b}}')).toEqual(['a'])
    expect(fill('${a:${b}}', { b: 'B' }).text).toBe('${b}')
  })

  it('takes the first default for all occurrences, before and after it', () => {
    expect(parseVariables('${a} ${a:1} ${a:2} ${a}').variables).toEqual([{ name: 'a', required: false, default: '1' }])
    expect(fill('${a} ${a:1} ${a:2} ${a}', {}).text).toBe('1 1 1 1')
    expect(fill('${a:} ${a:2}', {}).text).toBe(' ')
  })

  it('lists variables in the order of their first occurrence', () => {
    expect(namesIn('${b} ${a} ${b:1} ${c}')).toEqual(['b', 'a', 'c'])
  })
})

describe('how many', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `\${v${i}:d${i}}`).join(' ')

  it('are at most 100 distinct names', () => {
    expect(MAX_VARIABLES).toBe(100)
    expect([99, 100, 101].map((written) => namesIn(many(written)).length)).toEqual([99, 100, 100])
    expect(namesIn(`${'${a}'.repeat(500)}\${b}`)).toEqual(['a', 'b'])
  })

  it('leaves the 101st as it was written, and still fills known ones after it', () => {
    const { text } = fill(`${many(101)} \${v0}`, { v100: 'no', v0: 'yes' })
    expect(text.endsWith(' d99 ${v100:d100} yes')).toBe(true)
  })
})

describe('filling', () => {
  it('puts given values before defaults, an empty one too, and leaves a required variable without a value as it was written', () => {
    expect(fill('${a:x}|${b:y}', { a: '1', b: '' }).text).toBe('1|')
    expect(fill('${ a } and ${b}', { b: 'B' })).toEqual({ text: '${ a } and B', unfilled: ['a'] })
    expect(fill('${a}', { a: '1', z: '2' })).toEqual({ text: '1', unfilled: [] })
  })

  it('takes values of 10,000 characters', () => {
    expect(MAX_VARIABLE_VALUE).toBe(10_000)
    const codes = (length: number) => ['x', '😀'].map((letter) => codeOf(() => fill('${a}', { a: letter.repeat(length) })))
    expect(codes(10_000)).toEqual(['nothing was thrown', 'nothing was thrown'])
    expect(codes(10_001)).toEqual(['invalid_input', 'invalid_input'])
  })

  it('names the variable whose value is too long, and does not repeat the value', () => {
    expect(() => fill('${topic}', { topic: 'q'.repeat(10_001) })).toThrow(/topic/)
    expect(() => fill('${topic}', { topic: 'q'.repeat(10_001) })).not.toThrow(/qqq/)
  })

  it('keeps a JSON text one, whatever is put into its strings', () => {
    const text = '{"role": "a ${who} of ${what:\\"code\\"}", "tokens": ${count:100}, "${key}": ["\\\\", "${who}"]}'
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (who, key) => {
        const filled = JSON.parse(fill(text, { who, key }).text)
        expect(filled).toEqual({ role: `a ${who} of "code"`, tokens: 100, [key]: ['\\', who] })
      }),
      { examples: [['a "strict" judge\nof code', 'k']] },
    )
    expect(fill(text, { who: 'x', key: 'k', count: '7' }).text).toContain('"tokens": 7')
    expect(fill('Say "${who}" {', { who: '"hi"' }).text).toBe('Say ""hi"" {')
  })

  it('lets a result have 1,000,000 characters and not one more', () => {
    expect(MAX_FILLED_TEXT).toBe(1_000_000)
    const text = '${a}'.repeat(100)
    expect(fill(text, { a: '😀'.repeat(10_000) }).text).toBe('😀'.repeat(1_000_000))
    expect(codeOf(() => fill(`${text}.`, { a: '😀'.repeat(10_000) }))).toBe('too_large')
    expect(codeOf(() => fill(`\${b:${'d'.repeat(999)}}${text}`, { a: 'x'.repeat(9_991) }))).toBe('too_large')
  })

  it('knows the size before it builds: what could not be built at all is refused as well', () => {
    // 600 million characters are more than the longest string there can be (2^29 in V8).
    expect(codeOf(() => fill('${a}'.repeat(60_000), { a: 'x'.repeat(10_000) }))).toBe('too_large')
  })
})

describe('writePieces', () => {
  it.each([
    [[{ text: 'Costs ${price}: ' }, { name: 'price' }], 'Costs \\${price}: ${price}'],
    [[{ text: 'a\\${b}' }], 'a\\\\\\${b}'],
    [[{ text: '\\' }, { name: 'b', default: 'c' }], '\\\\${b:c}'],
    [[{ text: '${> part} ${f(x)} $' }, { name: 'b' }], '\\${> part} ${f(x)} $${b}'],
  ])('%j is %s', (pieces, text) => {
    expect(writePieces(pieces)).toBe(text)
  })
})

describe('properties', () => {
  it('hold for pieces: they are read as they were written', () => {
    const backslashed = fc.array(fc.oneof(trickyText, fc.constantFrom('\\', '${', '${> a}', '}', '\\${a}')), { maxLength: 4 })
    fc.assert(
      fc.property(backslashed, backslashed, (before, after) => {
        const pieces = [{ text: before.join('') }, { name: 'put in' }, { text: after.join('') }]
        const { segments } = parseVariables(writePieces(pieces))
        // A default that the text begins and the variable ends cannot be written.
        fc.pre(segments.some((segment) => segment.kind === 'variable' && segment.name === 'put in'))
        const said = segments.map((segment) => (segment.kind === 'text' ? segment.text : segment.raw)).join('')
        expect(said).toBe(`${before.join('')}\${put in}${after.join('')}`)
      }),
    )
  })

  it('hold for any text: nothing is lost or changed, and names and pieces are bounded', () => {
    fc.assert(
      fc.property(trickyText, (text) => {
        const { segments, variables } = parseVariables(text)
        expect(segments.map((segment) => segment.raw).join('')).toBe(text)
        expect(segments.length).toBeLessThanOrEqual(2 * (text.split('${').length - 1) + 1)
        expect(variables.length).toBeLessThanOrEqual(100)
        expect(new Set(variables.map((variable) => variable.name)).size).toBe(variables.length)
        for (const variable of variables) expect(variable.default === undefined).toBe(variable.required)
        if (variables.every((variable) => variable.required)) expect(fillVariables(text, new Map()).text).toBe(text)
      }),
    )
  })

  it('puts any value in once and in whole', () => {
    fc.assert(
      fc.property(fc.oneof(trickyText, fc.string({ unit: 'binary' })), (value) => {
        expect(fill('<${a}>', { a: value }).text).toBe(`<${value}>`)
      }),
    )
  })

  it.each([
    ['${a:'.repeat(50_000), 0],
    ['${'.repeat(100_000), 0],
    ['{'.repeat(200_000), 0],
    [`\${${'{'.repeat(200_000)}`, 0],
    [`\${a:${'{'.repeat(100_000)}${'}'.repeat(100_000)}`, 0],
    [`\${a${' '.repeat(200_000)}b}`, 0],
    [`\${${' '.repeat(200_000)}a}`, 1],
    [`${'${a:'.repeat(40_000)}${'}'.repeat(40_000)}`, 1],
  ])('reads long hostile text %# in linear time', (text, variables) => {
    expect(parseVariables(text).variables).toHaveLength(variables)
  })
})

it.each([
  ['clientName', 'Client name'],
  ['client_name', 'Client name'],
  ['client-name', 'Client name'],
  ['ClientName', 'Client name'],
  ['CLIENT_NAME', 'Client name'],
  ['first name', 'First name'],
  ['baseURL', 'Base URL'],
  ['HTTPServer', 'HTTP server'],
  ['fieldB', 'Field B'],
  ['step2Name', 'Step2 name'],
  ["author's-name", "Author's name"],
  ['and/or', 'And/or'],
  ['__proto__', 'Proto'],
  ['_', '_'],
  ['имяКлиента', 'Имя клиента'],
  ['名前', '名前'],
  ['𐐨name', '𐐀name'],
])('%s is read as "%s"', (name, label) => {
  expect(labelVariable(name)).toBe(label)
})
