// How long deleting an account holds up others: the longest block of the event loop, in a process that keeps its search index in step meanwhile,
// beside that of the same process while nothing is deleted (the floor).
//   npm run bench:removal [-- --items 100000] [--of-one 10000]
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { SYSTEM } from '../src/app.ts'
import { openSqlite } from '../src/storage/dialects/sqlite.ts'
import { createStore } from '../src/storage/store.ts'
import { findTestData } from '../test/support/real-data.ts'
import { recombinePrompts } from './recombined-prompts.ts'

const ITEMS_A_TRANSACTION = 500
const SEED = 20_261_122
const RUNS = 3
const { values } = parseArgs({ options: { items: { type: 'string', default: '100000' }, 'of-one': { type: 'string', default: '10000' } } })
const [items, ofOne] = [Number(values.items), Number(values['of-one'])]
if (!Number.isSafeInteger(items) || !Number.isSafeInteger(ofOne) || ofOne < 1 || ofOne > items) {
  throw new Error('--items and --of-one take numbers, the second no larger than the first.')
}
const folder = mkdtempSync(join(tmpdir(), 'commonplace-removal-'))

/** Fills a library: the items of the one who leaves are spread over it. */
async function fill(path: string): Promise<void> {
  const store = await createStore(openSqlite(path), SYSTEM)
  const [stays, leaves] = [
    await store.people.createUser({ username: 'stays', defaultVisibility: 'public' }),
    await store.people.createUser({ username: 'leaves', defaultVisibility: 'public' }),
  ]
  const every = Math.floor(items / ofOne)
  const prompts = recombinePrompts(findTestData().promptsFile, items, SEED)
  for (let made = 0; made < items; ) {
    await store.inTransaction(async (transaction) => {
      for (let n = 0; n < ITEMS_A_TRANSACTION && made < items; n++, made++) {
        const next = await prompts.next()
        if (next.done) return
        const owner = made % every === 0 ? leaves : stays
        const fields = { ...next.value, description: null, category: null, tags: [], visibility: 'public' as const }
        await transaction.items.createItem({ userId: owner.id, note: null }, { kind: 'prompt', ...fields })
      }
    })
  }
  await store.close()
}

/** The longest time between two turns of the event loop while something goes on, in milliseconds. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  await work()
  clearInterval(timer)
  return longest
}

try {
  const filled = join(folder, 'filled.db')
  await fill(filled)
  for (let run = 0; run < RUNS; run++) {
    const path = join(folder, `run-${run}.db`)
    copyFileSync(filled, path)
    const store = await createStore(openSqlite(path), SYSTEM)
    await store.service.loadSearch()
    const leaver = await store.people.findUser('leaves')
    let isOver = false
    const reading = (async () => {
      while (!isOver) {
        await store.service.loadSearch()
        await sleep(5)
      }
    })()
    const startedMs = performance.now()
    const blockMs = await longestBlock(() => store.people.deletePerson(leaver?.id ?? ''))
    const tookMs = performance.now() - startedMs
    const floorMs = await longestBlock(() => sleep(tookMs))
    isOver = true
    await reading
    const [before, after] = [statSync(filled).size, statSync(path).size]
    process.stdout.write(
      `${ofOne} of ${items} items deleted in ${(tookMs / 1000).toFixed(1)} s; longest block ${blockMs.toFixed(0)} ms, floor ${floorMs.toFixed(0)} ms; file ${(before / 1e6).toFixed(0)} MB, ${(after / 1e6).toFixed(0)} MB after\n`,
    )
    await store.close()
    rmSync(path)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
