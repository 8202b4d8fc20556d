// How long a search takes in a large library, and what the index weighs: prompts recombined from real ones with a fixed seed, asked real queries.
//   npm run bench:search [-- --prompts FILE.csv] [--queries FILE.tsv] [--count 100000] [--keep FILE.db]
// Without --prompts the data folder beside the checkout is used where there is one, else the starter library; without --queries its titles are asked.
// --keep leaves the library there, and uses it when it is there already.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { useHeapFlags } from '../src/cli/heap-flags.ts'
import { ANONYMOUS } from '../src/library/actor.ts'
import { readPromptFile } from '../src/transfer/prompt-file.ts'
import { findTestData } from '../test/support/real-data.ts'
import { fillLibrary, openLibrary } from './library-files.ts'

// As the service runs.
useHeapFlags(fileURLToPath(import.meta.url), process.argv.slice(2))

const ROUNDS = 3

const { values } = parseArgs({
  options: {
    prompts: { type: 'string' },
    queries: { type: 'string' },
    count: { type: 'string', default: '100000' },
    keep: { type: 'string' },
  },
})
const promptsFile = values.prompts ?? findTestData().promptsFile
const count = Number(values.count)
const folder = mkdtempSync(join(tmpdir(), 'commonplace-bench-'))
const path = values.keep ?? join(folder, 'bench.db')
const say = (line: string) => process.stdout.write(`${line}\n`)
const residentMiB = () => process.memoryUsage().rss / 2 ** 20
const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

try {
  if (!existsSync(path)) {
    const started = performance.now()
    await fillLibrary(path, promptsFile, count)
    say(`${count} prompts written in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  }
  const queries = await readQueries()
  const before = residentMiB()
  const app = await openLibrary(path)
  try {
    const search = app.operations.find((operation) => operation.name === 'search_prompts')
    if (!search) throw new Error('there is no search_prompts')
    const ask = async (query: string): Promise<number> => {
      const started = performance.now()
      await search.call(app.contextFor(ANONYMOUS, 'rest'), { query, limit: 10 })
      return performance.now() - started
    }
    say(`first search, the index being read: ${(await ask('warm up')).toFixed(0)} ms`)
    say(`resident: ${before.toFixed(0)} MiB before, ${residentMiB().toFixed(0)} MiB with the index`)
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    say(`of which in use: ${mib(heapUsed)} MiB of objects, ${mib(arrayBuffers)} MiB of arrays`)
    const measure = async (label: string, rounds: number) => {
      const times: number[] = []
      const before = process.cpuUsage()
      for (let round = 0; round < rounds; round++) for (const query of queries) times.push(await ask(query))
      const { user, system } = process.cpuUsage(before)
      report(label, times, (user + system) / 1000 / times.length)
    }
    await measure('each query for the first time', 1)
    await measure('asked again', ROUNDS)
    for (const query of ['the', 'write', 'you are an expert in creating a detailed story about the image of a person with light']) {
      say(`"${query}": ${(await ask(query)).toFixed(1)} ms`)
    }
    say(`resident in the end: ${residentMiB().toFixed(0)} MiB`)
  } finally {
    await app.close()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function report(label: string, times: readonly number[], cpuMs: number): void {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  say(
    `${label}: ${times.length} searches, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms, ${cpuMs.toFixed(1)} ms of processor each`,
  )
}

async function readQueries(): Promise<string[]> {
  const { queries } = values
  if (queries === undefined) {
    const titles: string[] = []
    for await (const row of readPromptFile(promptsFile)) if ('draft' in row && titles.length < 200) titles.push(row.draft.title)
    return titles
  }
  const [head = '', ...lines] = readFileSync(queries, 'utf8').trim().split('\n')
  const column = head.split('\t').indexOf('query')
  return lines.map((line) => line.split('\t')[column] ?? '')
}
