import { expect, it } from 'vitest'
import { parsePathTree, type TreeNode } from './path-tree.ts'

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
