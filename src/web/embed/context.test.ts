import { expect, it } from 'vitest'
import { parseContext, parseTools } from './context.ts'

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
