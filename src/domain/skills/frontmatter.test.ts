import { describe, expect, it } from 'vitest'
import {
  describeSkill,
  findFrontmatterFault,
  readFrontmatter,
  readNamedFrontmatter,
  setFrontmatterFields,
  splitFrontmatter,
} from './frontmatter.ts'

const wrap = (yaml: string) => `---\n${yaml}\n---\n\n# Body\n`

describe('what is read', () => {
  it.each([
    ['plain', 'name: pdf-tools\ndescription: Reads PDF files', 'Reads PDF files'],
    ['single quotes', "name: pdf-tools\ndescription: 'It''s: fine'", "It's: fine"],
    ['double quotes', 'name: "pdf-tools"\ndescription: "a \\"b\\"\\tc"', 'a "b"\tc'],
    ['folded', 'name: pdf-tools\ndescription: >-\n  one\n  two\n\n  three', 'one two\nthree'],
    ['literal', 'name: pdf-tools\ndescription: |\n  one\n  two\n', 'one\ntwo\n'],
    ['over two lines', 'name: pdf-tools\ndescription: one\n  two', 'one two'],
    ['with a comment', '# hello\nname: pdf-tools # its name\ndescription: x', 'x'],
    ['other fields', 'license: MIT\nname: pdf-tools\nmetadata:\n  a: [1, 2]\ndescription: x', 'x'],
    ['any script', 'name: pdf-tools\ndescription: 日本語 😀', '日本語 😀'],
  ])('%s', (_, yaml, description) => {
    expect(readFrontmatter(wrap(yaml), 'pdf-tools')).toEqual({ name: 'pdf-tools', description, warnings: [] })
  })

  it('reads CRLF, a BOM, spaces after the marks, and an end without a line break', () => {
    for (const text of [
      '---\r\nname: a\r\ndescription: b\r\n---\r\nBody',
      '\ufeff---\nname: a\ndescription: b\n---\nBody',
      '---  \nname: a\ndescription: b\n--- \nBody',
      '---\nname: a\ndescription: b\n---',
    ]) {
      expect(readFrontmatter(text, 'a')).toEqual({ name: 'a', description: 'b', warnings: [] })
    }
  })

  it('ends at the first closing mark', () => {
    expect(readFrontmatter('---\nname: a\ndescription: b\n---\ntext\n---\nname: c\n---\n', 'a').name).toBe('a')
  })
})

describe('what is odd is reported, never refused', () => {
  it.each([
    ['no frontmatter', '# Just a title\n', /frontmatter/],
    ['nothing', '', /frontmatter/],
    ['a mark that never closes', '---\nname: a\ndescription: b\n', /frontmatter/],
    ['not at the head', '\n---\nname: a\n---\n', /frontmatter/],
    ['a list', wrap('- name\n- description'), /YAML/],
    ['text before the first field', wrap('Some prose\nother: [a'), /YAML/],
  ])('%s', (_, text, warning) => {
    expect(readFrontmatter(text, 'a')).toEqual({ name: null, description: null, warnings: [expect.stringMatching(warning)] })
  })

  it.each([
    ['a colon', 'name: a\ndescription: Use when: always', 'Use when: always', 'description', 3],
    ['a colon over two lines', 'name: a\ndescription: Use when: always,\n  and ever', 'Use when: always, and ever', 'description', 3],
    ['signs of YAML', 'name: a\ndescription: @State and `friends`', '@State and `friends`', 'description', 3],
    ['quotes that go on', 'name: a\ndescription: "Use" it', '"Use" it', 'description', 3],
    ['another field', 'name: a\ndescription: b\nargument-hint: [x] [y]', 'b', 'argument-hint', 4],
    ['tabs', 'name: a\nmetadata:\n\t- x\ndescription: >-\n  b: c\n  d', 'b: c d', 'metadata', 3],
    ['lines that are no field', 'name: a\ndescription: b\n<example>\nname: c\n</example>', 'b', 'name', 5],
    ['text before the first field', '<!-- x -->\nname: a\ndescription: Use: it', 'Use: it', 'description', 4],
    ['a field that is there twice', 'name: a\nname: c\ndescription: b', 'b', 'name', 3],
  ])('%s costs no other field, and is named with its line', (_, yaml, description, field, line) => {
    const warnings = [expect.stringContaining(`SKILL.md, "${field}" in line ${line} is`)]
    expect(readFrontmatter(wrap(yaml), 'a')).toEqual({ name: 'a', description, warnings })
    expect(describeSkill(wrap(yaml))).toEqual({ name: 'a', description, length: description.length, notes: [], fault: null })
    expect(readNamedFrontmatter(wrap(yaml))).toMatchObject({ name: 'a', description })
  })

  it('a name of another form is offered as its slug, and a long description is cut, with a note', () => {
    const read = describeSkill(wrap(`name: My Skill (v2)\ndescription: ${'word '.repeat(300)}`))
    expect(read).toMatchObject({ name: 'my-skill-v2', fault: null })
    expect(read.description).toMatch(/^(?:word )+word…$/)
    expect(read.description?.length).toBeLessThanOrEqual(1024)
    expect(read.notes).toEqual([expect.stringContaining('"My Skill (v2)"'), expect.stringContaining('1024 characters')])
    expect(describeSkill(wrap('name: "!!"\ndescription: b')).fault).toContain('no letters or digits')
  })

  it.each([
    ['description: b', { name: null, description: 'b' }],
    ['name: a', { name: 'a', description: null }],
    ['name: 12\ndescription: b', { name: null, description: 'b' }],
    ['name: a\ndescription: [x]', { name: 'a', description: null }],
    ['name: a\ndescription:', { name: 'a', description: null }],
    ['name: Not A Name\ndescription: b', { name: 'Not A Name', description: 'b' }],
    ['name: other\ndescription: b', { name: 'other', description: 'b' }],
    [`name: ${'a'.repeat(65)}\ndescription: b`, { name: 'a'.repeat(65), description: 'b' }],
  ])('%s: one warning', (yaml, read) => {
    const frontmatter = readFrontmatter(wrap(yaml), 'a')
    expect(frontmatter).toMatchObject(read)
    expect(frontmatter.warnings).toHaveLength(1)
  })
})

describe('hostile YAML', () => {
  it('does not blow up aliases', () => {
    const rows = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i < 12; i++) rows.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(',')}]`)
    const read = readFrontmatter(wrap([...rows, 'name: a', 'description: b'].join('\n')), 'a')
    expect(read).toEqual({ name: 'a', description: 'b', warnings: [expect.stringMatching(/YAML/)] })
  })

  it.each(['[', '{a: ', '- ', '? ', '&a ', '"'])('survives 60,000 characters of %j', (piece) => {
    expect(readFrontmatter(wrap(piece.repeat(60_000 / piece.length)), 'a').name).toBeNull()
  })

  it('does not write out keys that are collections, level by level', () => {
    const text = `---\n${'? '.repeat(600)}a\n---\nx`
    expect(readFrontmatter(text, null).warnings).toEqual(['the frontmatter of SKILL.md is not valid YAML'])
    expect(splitFrontmatter(text)).toEqual({ fields: [], odd: [], body: text })
    expect(setFrontmatterFields(text, { name: 'a' })).toBeNull()
    expect(findFrontmatterFault(`---\nname: a\nb: ${'{? '.repeat(99)}a${'}'.repeat(99)}\n---\n`)).toContain('a key that is not text')
  })

  it('does not take __proto__ for more than a key', () => {
    expect(readFrontmatter(wrap('__proto__:\n  name: evil\ndescription: b'), 'a').name).toBeNull()
    expect(Object.prototype).not.toHaveProperty('name')
  })
})
