import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseContext, parsePathTree, parsePromptPieces, parseTools, readPiece, type TreeNode } from './fields.ts'

it('tells files, images, links, folders and sources apart', () => {
  const text =
    '@src/app.ts, #sketch.png, https://example.org/a?b=c , docs/, @src/, @web, notes.md, photo.JPG, @, #,, javascript:alert(1), http://'
  expect(parseContext(text)).toEqual({
    shown: [
      { kind: 'file', label: 'src/app.ts' },
      { kind: 'image', label: 'sketch.png' },
      { kind: 'link', label: 'example.org/a', url: 'https://example.org/a?b=c' },
      { kind: 'folder', label: 'docs/' },
      { kind: 'folder', label: 'src/' },
      { kind: 'source', label: 'web' },
      { kind: 'file', label: 'notes.md' },
      { kind: 'image', label: 'photo.JPG' },
      { kind: 'file', label: 'javascript:alert(1)' },
      { kind: 'folder', label: 'http://' },
    ],
    more: 0,
  })
})

it('shows a bounded number of references and tools, and says how many more there are', () => {
  expect(parseContext(Array.from({ length: 50 }, (_, index) => `@f${index}.ts`).join(','))).toMatchObject({ more: 10 })
  expect(parseTools('a:b\n'.repeat(41)).more).toBe(1)
})

it('reads tools as server and tool', () => {
  expect(parseTools(' github:create_issue \n\nlocal\na:b:c\n:x\ny: ')).toEqual({
    shown: [
      { server: 'github', tool: 'create_issue' },
      { server: 'a', tool: 'b:c' },
    ],
    more: 0,
    badLines: [3, 5, 6],
  })
})

const draw = (nodes: readonly TreeNode[]): unknown[] =>
  nodes.map(({ name, children }) => (children ? [`${name}/`, ...draw(children)] : name))

it('puts folders first, each kind by name whatever the case', () => {
  const { nodes } = parsePathTree('readme.md\nsrc/b.ts\nApp.ts\nsrc/lib/x.ts\n/src/A.ts\nempty/\n./dot.txt\n\n  src/b.ts  ')
  expect(draw(nodes)).toEqual([['empty/'], ['src/', ['lib/', 'x.ts'], 'A.ts', 'b.ts'], 'App.ts', 'dot.txt', 'readme.md'])
  expect(nodes[1]?.children?.[1]?.path).toBe('src/A.ts')
})

it('takes a name that is both for a folder, and nothing for a file', () => {
  expect(draw(parsePathTree('a\na/b\n/\n//').nodes)).toEqual([['a/', 'b']])
})

it('is bounded in length and depth', () => {
  expect(parsePathTree('x\n'.repeat(500))).toMatchObject({ more: 300 })
  const deep = JSON.stringify(parsePathTree('a/'.repeat(2000)).nodes)
  expect(deep.split('children').length).toBe(13)
})

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
