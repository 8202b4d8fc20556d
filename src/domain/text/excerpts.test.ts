import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countCharacters, cutCharacters } from './characters.ts'
import { DERIVED_FROM, deriveDescription, firstWords } from './excerpts.ts'

/** The words on one line, blanks in angles. */
const show = (content: string, title?: string) =>
  firstWords(content, title)
    .pieces.map((piece) => ('text' in piece ? piece.text : `<${piece.blank}>`))
    .join('')

describe('firstWords', () => {
  it.each([
    ['plain text\n\nin   lines', 'plain text in lines'],
    ['---\nname: x\ndescription: y\n---\n# Role\nAct.', 'Role Act.'],
    ['---\nname: x\n---\n', 'name: x'],
    ['# ====\n# Prompt: A\n# ====', 'Prompt: A'],
    ['**Bold** and _thin_ and snake_case and `code` ~~gone~~', 'Bold and thin and snake_case and code gone'],
    ['- [ ] one\n- two\n1. three\n> four', 'one two three four'],
    ['See [the docs](https://x.example/a "t") ![pic](a.png)', 'See the docs pic'],
    ['```python\nprint(1)\n```', 'print(1)'],
    ['| a | b |\n|:-:|---|\n| 1 | 2 |', 'a | b 1 | 2'],
    ['<role>\nYou are <b>kind</b>.\n</role><!-- no -->', 'You are kind .'],
    ['{"title": "One", "n": 3, "list": ["Two\\nlines", "\\u00e9"]}', 'One · Two lines · é'],
    ['Draw this:\n{ "style": "ink" }', 'Draw this: · ink'],
    ['{"a": "cut off in the mid', '{"a": "cut off in the mid'],
    ['if (a < b && c > d) return `x`', 'if (a < b && c > d) return x'],
    ['---', '---'],
    ['', ''],
  ])('%j', (content, shown) => {
    expect(show(content)).toBe(shown)
  })

  it('names blanks, inside of markup and JSON too, and counts them', () => {
    const { pieces, blanks, isCut } = firstWords('Greet **${name}** as ${role:a friend}, ${name}.')
    const [greet, as, comma, end] = ['Greet ', ' as ', ', ', '.'].map((text) => ({ text }))
    expect(pieces).toEqual([greet, { blank: 'name' }, as, { blank: 'role' }, comma, { blank: 'name' }, end])
    expect([blanks, isCut]).toEqual([2, false])
    expect(show('{"${key}": "a", "who": "${my__name:x}"}')).toBe('a · <my__name>')
  })

  it('says whether more would be shown if there were room', () => {
    expect(firstWords('x'.repeat(240)).isCut).toBe(false)
    expect(firstWords(`${'x'.repeat(240)} y`).isCut).toBe(true)
    expect(firstWords(`# Short\n\n<!-- ${'x'.repeat(300)} -->`).isCut).toBe(false)
  })

  it('leaves out a first line that repeats the title, unless nothing follows', () => {
    expect(show('# Code review\n\nRead this.', 'Code Review')).toBe('Read this.')
    expect(show('Code review', 'Code review')).toBe('Code review')
    expect(show('Code reviewer at work', 'Code review')).toBe('Code reviewer at work')
  })

  it('is one short line of whole characters, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'grapheme', maxLength: 400 })), (content) => {
        const { pieces } = firstWords(content.repeat(4), content.slice(0, 9))
        const text = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')
        expect([...text].length).toBeLessThanOrEqual(240)
        expect(text.isWellFormed()).toBe(true)
        expect(text).not.toMatch(/[\n\r]/)
      }),
    )
  })

  it.each(['[', '{ ', '<a ', '![', '**', '> ', '|-', ' ', '\\"', '"', '${', '${a:', '<!--', '- ', '\n ', '---\n', '_'])(
    'takes linear time in %j',
    (part) => {
      // Quadratic time would outlast the test.
      expect(firstWords(`x\n${part.repeat(300_000)}x`).pieces.length).toBeGreaterThan(0)
    },
  )
})

describe('deriveDescription', () => {
  it.each([
    [
      'Act as a poet. Write about love and loss in the manner of the old masters. No rhymes.',
      'Act as a poet. Write about love and loss in the manner of the old masters.',
    ],
    [
      '# Guide\n\nShow **${city:Paris}** to a visitor who has one day and very little money. Be kind.',
      'Show [city] to a visitor who has one day and very little money.',
    ],
    [
      '---\nname: x\n---\nRead the change that is given and name each fault in it, the worst one first.',
      'Read the change that is given and name each fault in it, the worst one first.',
    ],
    ['短い文です。これは二番目の文です。', '短い文です。これは二番目の文です。'],
    ['Short', 'Short'],
    ['{"tone": "cool", "light": "high", "colors": ["teal", "cool gray"], "view": "eye-level shot"}', null],
    ['{"tone": "cool", "task": "Draw a harbour at dawn for ${who:me}.", "view": "eye-level shot"}', 'Draw a harbour at dawn for [who].'],
    ['tone: cool\nlight: high\ncolors:\n  - teal\n  - cool gray\n', null],
    ['role: assistant\r\ntask: Draw a harbour at dawn, with boats.\r\n', 'Draw a harbour at dawn, with boats.'],
    ['role: assistant\ntask: |\n  Draw a harbour at dawn, with boats.\nview: eye-level\n', 'Draw a harbour at dawn, with boats.'],
    [' \n ', null],
  ])('%j', (content, description) => {
    expect(deriveDescription(content, 'Guide')).toBe(description)
  })

  it('reads long runs of spaces once', () => {
    // With backtracking, each took seconds.
    for (let n = 0; n < 200; n++) expect(deriveDescription(`a: b\n${' '.repeat(950)}x\u2028b`, 'x')).toBe(null)
  })

  it('cuts a long sentence at a word', () => {
    const derived = deriveDescription('word '.repeat(400), 'x') ?? ''
    expect(derived).toMatch(/^(word )+word…$/)
    expect(countCharacters(derived)).toBeLessThanOrEqual(200)
  })

  it('depends on nothing but the beginning of the text, and is one short line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 700 }), fc.string({ unit: 'grapheme', maxLength: 700 })), (text) => {
        const content = text.repeat(3)
        const derived = deriveDescription(content, 'x')
        expect(deriveDescription(cutCharacters(content, DERIVED_FROM), 'x')).toBe(derived)
        expect(countCharacters(derived ?? '')).toBeLessThanOrEqual(200)
        expect(derived ?? 'x').toMatch(/^\S.*$/u)
      }),
    )
  })
})
