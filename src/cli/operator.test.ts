import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { parseDuration } from './operator.ts'
import { createInputReader } from './read-input.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

it.each([
  ['1h', HOUR_MS],
  ['36h', 36 * HOUR_MS],
  ['90d', 90 * DAY_MS],
  ['2w', 14 * DAY_MS],
  ['1y', 365 * DAY_MS],
  ['100y', 36_500 * DAY_MS],
  ['36500d', 36_500 * DAY_MS],
  [' 90d ', 90 * DAY_MS],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

it.each(['', '0d', '90', 'd', '-1d', '1.5d', '1 d', '1D', '1m', '1s', '101y', '36501d', '9999999h', '1d2h', 'forever', 'Infinityd', '１d'])(
  'refuses %j and names the flag',
  (text) => {
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining('--expires') }),
    )
  },
)

const readerOf = (stdin: string) => createInputReader(Readable.from([stdin]))
const text = { name: 'content', kind: 'text' } as const

it('takes a value as it is, from a file, or from standard input', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-input-'))
  try {
    const file = join(folder, 'a.md')
    writeFileSync(file, 'from a file\n')
    const reader = readerOf('from a pipe\n')
    expect(await reader.read(text, 'as it is')).toBe('as it is')
    expect(await reader.read(text, `@${file}`)).toBe('from a file\n')
    expect(await reader.read(text, '-')).toBe('from a pipe\n')
    expect(await readerOf('piped').read(text, '@-')).toBe('piped')
    expect(await readerOf('{"a":1}').read({ name: 'variables', kind: 'json' }, '-')).toEqual({ a: 1 })
    expect(await reader.read(text, '--')).toBe('--')
    await expect(reader.read(text, '-')).rejects.toMatchObject({ message: 'content: only one value can be read from standard input.' })
    await expect(reader.read(text, `@${file}x`)).rejects.toMatchObject({ message: `content: the file ${file}x does not exist.` })
    await expect(reader.read(text, `@${folder}`)).rejects.toMatchObject({ message: `content: the file ${folder} cannot be read.` })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('reads numbers, lists and JSON', async () => {
  const reader = readerOf('')
  expect(await reader.read({ name: 'limit', kind: 'number' }, '3')).toBe(3)
  expect(await reader.read({ name: 'tags', kind: 'list' }, 'a, b')).toEqual(['a', 'b'])
  await expect(reader.read({ name: 'files', kind: 'json' }, '{')).rejects.toMatchObject({ message: 'files must be JSON.' })
})
