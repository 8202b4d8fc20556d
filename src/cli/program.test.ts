import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { suggestWords } from './completion-command.ts'
import { nameProgram, parseDuration } from './operator.ts'
import { createProgram } from './program.ts'
import { missingHeapFlags, oldNodeFault } from './start-process.ts'
import { createInputReader } from './terminal.ts'

it('lists every command below a heading, those that are used most first', () => {
  const lines = createProgram().helpInformation().split('\n')
  const headings = lines.filter((line) => /^[A-Z][^:]*:$/.test(line))
  expect(headings.slice(0, 4)).toEqual(['Options:', 'Run the service:', 'Find and use:', 'Save and change:'])
  expect(headings).not.toContain('Commands:')
  expect(lines.filter((line) => line.includes('. '))).toEqual([])
})

const START = { node: 'node', program: '/opt/commonplace/dist/cli/main.js', folder: '/opt/commonplace', npmScript: null, launcher: null }

it.each([
  ['node dist/cli/main.js', START],
  ['node /opt/commonplace/dist/cli/main.js', { ...START, folder: '/home/ada' }],
  ['node_modules/node/bin/node dist/cli/main.js', { ...START, node: 'node_modules/node/bin/node' }],
  ["node '/opt/common place/it'\\''s/main.js'", { ...START, program: "/opt/common place/it's/main.js" }],
  ['npm run -s commonplace --', { ...START, npmScript: 'start' }],
  ['npm run -s commonplace --', { ...START, program: '/opt/commonplace/scripts/run.ts', npmScript: 'commonplace' }],
  ['node dist/cli/main.js', { ...START, npmScript: 'test' }],
  ['commonplace', { ...START, program: '/usr/local/bin/commonplace' }],
  ['commonplace', { ...START, program: '/home/ada/node_modules/.bin/commonplace', npmScript: 'npx' }],
  ['/opt/commonplace/bin/commonplace', { ...START, launcher: '/opt/commonplace/bin/commonplace' }],
  ["'/srv/our library/commonplace'", { ...START, launcher: '/srv/our library/commonplace', npmScript: 'start' }],
])('is %s', (name, start) => {
  expect(nameProgram(start)).toBe(name)
})

it.each([
  ['us', ['users']],
  ['users ro', ['role']],
  ['users role ada ', ['user', 'admin']],
  ['delete ', ['prompts', 'skills']],
  ['users list ', ['--all', '--json', '--help']],
  ['users list --json --', ['--all', '--help']],
  ['list-prompts --type S', ['STRUCTURED']],
  ['list-prompts --type=S', ['--type=STRUCTURED']],
  ['list-prompts --type = S', ['STRUCTURED']],
  ['list-prompts --type =', ['TEXT', 'STRUCTURED', 'IMAGE', 'VIDEO', 'AUDIO']],
  ['list-prompts --type=TEXT --typ', []],
  ['save-prompt --title users --visib', ['--visibility']],
  // A file, a name and a text of one's own.
  ['import prompts ', []],
  ['whoami --user ', []],
  ['search foo bar ', []],
])('suggests after "%s": %j', (line, expected) => {
  expect(suggestWords(createProgram(), line.split(' ')).map(({ word }) => word)).toEqual(expected)
})

it('leaves out what nobody types', () => {
  const words = suggestWords(createProgram(), ['']).map(({ word }) => word)
  expect(words).toContain('completion')
  expect(words).not.toContain('complete')
})

it('says which Node runs it where an older one was started', () => {
  for (const version of ['18.20.0', '20.20.2', '22.22.1', '23.11.0']) {
    expect(oldNodeFault(version, '/x/node_modules/node/bin/node')).toBe(
      `Commonplace needs Node 24 or newer; this is Node ${version}. Start it with /x/node_modules/node/bin/node (installed by npm ci).`,
    )
  }
  expect(oldNodeFault('20.20.2', null)).toBe('Commonplace needs Node 24 or newer; this is Node 20.20.2. Start it with a newer version.')
  for (const version of ['24.0.0', '25.1.0']) expect(oldNodeFault(version, '')).toBeNull()
})

const BOTH = ['--max-semi-space-size=4', '--heap-growing-percent=20']

it('leaves what was given, in whatever way', () => {
  expect(missingHeapFlags([], '')).toEqual(BOTH)
  expect(missingHeapFlags(BOTH, '')).toEqual([])
  expect(missingHeapFlags(['--import', './a.ts', '--max_semi_space_size=16'], '')).toEqual(['--heap-growing-percent=20'])
  expect(missingHeapFlags([], '--enable-source-maps --max-semi-space-size=16')).toEqual(['--heap-growing-percent=20'])
  expect(missingHeapFlags(['--max-old-space-size=256'], '')).toEqual(BOTH)
})

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
