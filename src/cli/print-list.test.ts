import { expect, it } from 'vitest'
import { OPERATIONS } from '../operations/index.ts'
import { formatList, formatTable, isList } from './print-list.ts'

it('aligns columns and cuts the last one to the width of the terminal', () => {
  const rows = [
    ['slug', 'title'],
    ['a-long-slug', 'A title of more than thirty characters'],
  ]
  expect(formatTable(rows, null)).toBe('slug         title\na-long-slug  A title of more than thirty characters\n')
  expect(formatTable(rows, 40)).toBe('slug         title\na-long-slug  A title of more than thirt…\n')
  expect(formatTable(rows, 10)).toBe('slug         title\na-long-slug  A title of more tha…\n')
  expect(
    formatTable(
      [
        ['a', ''],
        ['b', 'c'],
      ],
      80,
    ),
  ).toBe('a\nb  c\n')
  expect(formatTable([], 80)).toBe('')
})

it('keeps a row on its line, and commands away from the terminal', () => {
  expect(formatTable([['x', 'two\nlines\tand \u001b[31mred']], 80)).toBe('x  two lines and ⟨U+001B⟩[31mred\n')
  expect(formatTable([['a\u202eb']], 80)).toBe('a⟨U+202E⟩b\n')
})

it('does not cut a character in half', () => {
  expect(formatTable([[`${'a'.repeat(18)}😀bc`]], 10)).toBe(`${'a'.repeat(18)}…\n`)
})

const prompt = { slug: 'walrus', title: 'A walrus', type: 'TEXT', visibility: 'public', description: 'd', content: 'A long text' }

it('knows every command that lists or searches', () => {
  const commands = OPERATIONS.flatMap(({ name, surfaces }) => (surfaces.cli ? [{ name, command: surfaces.cli.command }] : []))
  expect(commands.filter(({ name }) => isList(name)).map(({ command }) => command)).toEqual(
    commands.map(({ command }) => command).filter((command) => /^(list|search)(-|$)/.test(command)),
  )
})

it('shows a line for each item, and how to see the rest', () => {
  expect(formatList('search_prompts', { query: 'x', count: 1, prompts: [prompt] }, 80)).toBe(
    'slug    type  title\nwalrus  TEXT  A walrus\n',
  )
  expect(
    formatList('list_prompts', { prompts: [prompt], total: 3, page: 1, perPage: 1, totalPages: 3, correctedQuery: 'walrus' }, 80),
  ).toBe('Showing results for: walrus\nslug    visibility  type  title\nwalrus  public      TEXT  A walrus\n1 of 3; next: --page 2.\n')
  const version = { version: 12, note: null, author: 'ada', createdAt: '2026-01-31T10:00:00.000Z', visibility: 'private' }
  expect(formatList('list_versions', { versions: [version], nextBefore: 12 }, 80)).toBe(
    'version  createdAt   visibility  author  note\n12       2026-01-31  private     ada\nOlder: --before 12\n',
  )
  expect(formatList('list_tags', { tags: [], total: 0, page: 1, perPage: 24, totalPages: 0 }, 80)).toBe('Nothing found.\n')
})
