import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { createInputReader } from './read-input.ts'

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
