import { expect, it } from 'vitest'
import { readObject } from './read-object.ts'

it.each(['{"a": 1}', 'a: 1\nb: 2', 'scene:\n  light: low', '{}'])('%j is an object', (text) => {
  expect(readObject(text, false)).not.toBeNull()
})

it.each([
  ['prose with a colon', 'write blog post: cats'],
  ['one labelled line', 'task: write a poem'],
  ['labels with capitals', 'Role: cook\nTask: bake'],
  ['a list', '[1, 2]'],
  ['JSON that ends early', '{"a": 1'],
  ['YAML that does not parse', 'a: [1'],
  ['deep JSON', `{"a": ${'['.repeat(100)}${']'.repeat(100)}}`],
  ['deep brackets', `a: ${'['.repeat(10_000)}`],
  ['deep lists', `a:\n${'- '.repeat(5000)}`],
  ['deep complex keys', `a:\n${'? '.repeat(5000)}`],
  ['a key that occurs twice', 'a: 1\nb:\n  c: 1\n  c: 2'],
  ['an unknown alias', 'a: &x [1]\nb: *y'],
  ['frontmatter with a text below', '---\nname: a\nkind: b\n---\nText'],
  ['a colour behind a hash', 'color: #ff0000\nsize: 2'],
  ['words behind hashes', 'task: rank these tags #cats #dogs\nstyle: short'],
  ['words behind a hash and a space', 'task: rank the song # 1\nstyle: short'],
  ['a hash on a line of its own that is no comment for sure', '#cats\ntask: rank\nstyle: short'],
  ['keys nested deeper than the parser can go', `${'a: '.repeat(3300)}}`],
  ['nothing', ''],
])('%s is a text', (_, text) => {
  expect(readObject(text, false)).toBeNull()
})

it('counts one known key as a mapping only where an object is wanted', () => {
  expect(readObject('task: write a poem', true)?.members).toEqual([['task', 'write a poem']])
})

it('keeps the spelling of numbers, and comments as a member', () => {
  expect(readObject('# first\nversion: 1.10\n# second\nname: x', false)?.members).toEqual([
    ['version', '1.10'],
    ['name', 'x'],
    ['comments', ['first', 'second']],
  ])
})

it('reads __proto__ as a key like any other', () => {
  expect(readObject('{"__proto__": {"polluted": true}}', false)?.members).toEqual([['__proto__', { polluted: true }]])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})
