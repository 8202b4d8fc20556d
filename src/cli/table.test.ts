import { expect, it } from 'vitest'
import { formatTable, forTerminal } from './table.ts'

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
  expect(formatTable([['x', 'two\nlines\tand \u001b[31mred']], 80)).toBe('x  two lines and \ufffd[31mred\n')
  expect(forTerminal('a\tb\n\u001b]0;title\u0007\r\u009b1m')).toBe('a\tb\n\ufffd]0;title\ufffd\ufffd\ufffd1m')
})

it('does not cut a character in half', () => {
  expect(formatTable([[`${'a'.repeat(18)}😀bc`]], 10)).toBe(`${'a'.repeat(18)}…\n`)
})
