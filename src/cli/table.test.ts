import { expect, it } from 'vitest'
import { formatTable } from './table.ts'

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
