import { describe, expect, it, vi } from 'vitest'
import { OPERATIONS } from '../operations/index.ts'
import { showText } from './operation-commands.ts'
import { formatList, formatTable, isList, print, printError, printJson } from './terminal.ts'

it('shows control characters as marks, and keeps JSON equal', () => {
  const written: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  }
  const text = 'a\u001b[2J\u009b\n'
  print(text)
  printError(text)
  printJson({ text })
  vi.restoreAllMocks()
  expect(written.slice(0, 2)).toEqual(['a⟨U+001B⟩[2J⟨U+009B⟩\n', 'a⟨U+001B⟩[2J⟨U+009B⟩\n'])
  for (const control of ['\u001b', '\u009b']) expect(written.join('')).not.toContain(control)
  expect(JSON.parse(written[2] ?? '')).toEqual({ text })
})

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

/** A screen, and what was written on it. */
function screen(isTTY: boolean) {
  const written: string[] = []
  return { isTTY, write: (text: string) => written.push(text), read: () => written.join('') }
}

/** Shows an answer that comes in these pieces (null: asked again), and gives what stands on stdout and stderr. */
async function show(ttys: [stdout: boolean, stderr: boolean], pieces: readonly (string | null)[], result: string, isResultText = true) {
  const stdout = screen(ttys[0])
  const stderr = screen(ttys[1])
  const display = showText(stdout, stderr, isResultText)
  for (const piece of pieces) await display.onText(piece === null ? { kind: 'restart' } : { kind: 'delta', text: piece })
  display.finish(result)
  return [stdout.read(), stderr.read()]
}

describe('showText', () => {
  it('prints the result alone where nobody watches', async () => {
    expect(await show([false, false], ['on', 'e'], 'one')).toEqual(['one\n', ''])
  })

  it('shows the text on a terminal once, as it comes', async () => {
    expect(await show([true, true], ['on', 'e'], 'one')).toEqual(['one\n', ''])
    expect(await show([true, true], ['one\n'], 'one')).toEqual(['one\n\n', ''])
  })

  it('shows it on stderr when stdout goes elsewhere', async () => {
    expect(await show([false, true], ['on', 'e'], 'one')).toEqual(['one\n', 'one\n'])
    expect(await show([true, true], ['on', 'e'], '{}', false)).toEqual(['{}\n', 'one\n'])
  })

  it('tells when what was shown is void, and shows the result when it is another', async () => {
    expect(await show([true, false], ['wrong', null, 'right'], 'right')).toEqual([
      'wrong\n\n(Unusable answer; asking the model again.)\n\nright\n',
      '',
    ])
    expect(await show([true, false], ['```\n{}\n```'], '{}')).toEqual(['```\n{}\n```\n\nResult:\n\n{}\n', ''])
    expect(await show([true, false], [], 'one')).toEqual(['one\n', ''])
  })

  it('lets no text command a terminal, and changes nothing elsewhere', async () => {
    const text = 'a\u001b]0;title\u0007\tb\r\n\u009b31mc\r\u202e'
    const shown = 'a⟨U+001B⟩]0;title⟨U+0007⟩\tb\r\n⟨U+009B⟩31mc⟨U+000D⟩⟨U+202E⟩\n'
    expect(await show([true, false], [text], text)).toEqual([shown, ''])
    expect(await show([true, false], [], text)).toEqual([shown, ''])
    expect(await show([false, false], [text], text)).toEqual([`${text}\n`, ''])
  })

  it('ends the line where a text broke off', async () => {
    const stdout = screen(true)
    const display = showText(stdout, screen(true), true)
    await display.onText({ kind: 'delta', text: 'half a' })
    display.breakOff()
    expect(stdout.read()).toBe('half a\n')
  })
})
