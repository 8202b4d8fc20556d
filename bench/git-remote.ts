// What a clone of a large library costs: the first one, which builds the history, the next, a fetch of what is current, and one of an edit. The
// longest block is of the event loop of the server, beside that of the same process while it waits (the floor).
//   npm run bench:git [-- --items 100000] [--transaction 500]
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { answerWith } from '../src/server/listen.ts'
import { findTestData } from '../test/support/real-data.ts'
import { testApp } from '../test/support/test-app.ts'
import { recombinePrompts } from './recombined-prompts.ts'

const SEED = 20_261_122
const { values } = parseArgs({ options: { items: { type: 'string', default: '100000' }, transaction: { type: 'string', default: '500' } } })
const [items, itemsATransaction] = [Number(values.items), Number(values.transaction)]
if (!Number.isSafeInteger(items) || !Number.isSafeInteger(itemsATransaction) || items < 1 || itemsATransaction < 1) {
  throw new Error('--items and --transaction take numbers above 0.')
}
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'commonplace-git-bench-'))
const test = await testApp()
const server = createServer(answerWith(test.pipeline))

/** Processor time of the main thread, in milliseconds: a block without it is a wait for a core. */
function readThreadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** What some work takes: by the clock, of this process's threads, and the longest time between two turns of its event loop. */
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  let longest = 0
  let longestWork = 0
  let last = performance.now()
  let worked = readThreadMs()
  const timer = setInterval(() => {
    const now = performance.now()
    const thread = readThreadMs()
    longest = Math.max(longest, now - last)
    longestWork = Math.max(longestWork, thread - worked)
    last = now
    worked = thread
  }, 1)
  const started = performance.now()
  const cpu = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(timer)
  const seconds = ((performance.now() - started) / 1000).toFixed(2)
  const memory = (process.memoryUsage().rss / 2 ** 20).toFixed(0)
  process.stdout.write(
    `${what}: ${seconds} s, ${((user + system) / 1e6).toFixed(2)} s of processor, longest block ${longest.toFixed(0)} ms, of it at work ${longestWork.toFixed(0)} ms, ${memory} MiB resident\n`,
  )
}

try {
  const { actor: owner } = await test.user('owner')
  const prompts = recombinePrompts(findTestData().promptsFile, items, SEED)
  let last = ''
  for (let made = 0; made < items; ) {
    await test.app.store.inTransaction(async (transaction) => {
      for (let n = 0; n < itemsATransaction && made < items; n++, made++) {
        const next = await prompts.next()
        if (next.done) throw new Error('There are too few prompts.')
        const { title, content, type } = next.value
        const fields = { title, content, type, description: null, category: null, tags: [], visibility: 'public' as const }
        last = (await transaction.items.createItem({ userId: owner.userId, note: null }, { kind: 'prompt', ...fields })).id
      }
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/library.git`
  const git = async (...args: string[]) => (await run('git', args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })).stdout
  await measure('Floor', () => sleep(2000))
  await measure('First clone', () => git('clone', '-q', '--bare', url, 'first'))
  await measure('Second clone', () => git('clone', '-q', '--bare', url, 'second'))
  await measure('Shallow clone', () => git('clone', '-q', '--bare', '--depth', '1', url, 'shallow'))
  await measure('Fetch of what is current', () => git('-C', 'first', 'fetch', '-q', 'origin', 'main:main'))
  await test.call(owner, 'update_prompt', { id: last, content: 'Changed.' })
  await measure('Fetch of an edit', () => git('-C', 'first', 'fetch', '-q', 'origin', 'main:main'))
  const sizes = await git('-C', 'second', 'count-objects', '-v')
  process.stdout.write(`${items} prompts in the clone, in KiB:\n${sizes}`)
} finally {
  server.closeAllConnections()
  server.close()
  await test.close()
  rmSync(folder, { recursive: true, force: true })
}
