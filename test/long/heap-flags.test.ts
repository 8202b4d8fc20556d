import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, it } from 'vitest'
import { endProcess, untilPrinted } from '../support/children.ts'
import { createPlace, MAIN } from '../support/processes.ts'

const RUN = fileURLToPath(new URL('../../scripts/run.ts', import.meta.url))
const place = createPlace()
let child: ChildProcess | null = null
afterEach(async () => {
  if (child) await endProcess(child)
})
afterAll(() => place.remove())

/** Starts a program, and gives its command line once it has answered, and what it wrote to stderr. */
async function start(args: readonly string[], options: { input?: string; until: RegExp }) {
  const started = spawn(process.execPath, args, { env: { ...process.env, ...place.env } })
  child = started
  let stderr = ''
  started.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  if (options.input !== undefined) started.stdin.write(options.input)
  await untilPrinted(started, options.until)
  return { commandLine: readFileSync(`/proc/${started.pid}/cmdline`, 'utf8').split('\0'), stderr }
}

const FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=20']

it.each([
  ['by itself', MAIN],
  ['as npm start does', RUN],
])('serve has the heap flags in effect, started %s', async (_how, program) => {
  const { commandLine, stderr } = await start([program, 'serve'], { until: /Stop with/ })
  expect(commandLine).toEqual(expect.arrayContaining([...FLAGS, MAIN, 'serve']))
  expect(stderr).toBe('')
})

it('other commands run in the process they were started in', async () => {
  await place.commonplace(['users', 'create', 'ada'])
  const hello = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const { commandLine } = await start([MAIN, 'mcp'], { input: `${JSON.stringify(hello)}\n`, until: /"result"/ })
  expect(commandLine.filter((part) => part.startsWith('--'))).toEqual([])
})
