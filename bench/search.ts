// How long searches take in a library whose items all have the encoder's vector, and what the index weighs.
//   npm run bench:search [-- --count 100000] [--keep FOLDER] [--prompts FILE.csv] [--queries FILE.tsv]
// Up to the size of the file of prompts they are real; the others are recombined from them, with a fixed seed. Real prompts are encoded, which
// takes minutes and is timed; a recombined prompt's vector is the normalised sum of those it is made of, and a little seeded noise.
// --keep leaves libraries and vectors in a folder, and uses those that are there. Without --prompts the data folder beside the checkout is used
// where there is one, else the starter library; without --queries the `queries-dev.tsv` beside the prompts, else their titles.
// ENCODER=off asks without the encoder.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { useHeapFlags } from '../src/cli/start-process.ts'
import { ANONYMOUS } from '../src/domain/people/actor.ts'
import { createPlace } from '../test/support/processes.ts'
import { findTestData } from '../test/support/real-data.ts'
import { libraryPath, makeEncodedLibrary } from './encoded-library.ts'
import { openLibrary } from './library-files.ts'
import { ENCODER_THREAD, readProcessorTime } from './processor-time.ts'
import { readQueries } from './queries.ts'

// As the service runs.
useHeapFlags(fileURLToPath(import.meta.url), process.argv.slice(2))

const ROUNDS = 3

const { values } = parseArgs({
  options: {
    prompts: { type: 'string' },
    queries: { type: 'string' },
    count: { type: 'string', default: '100000' },
    keep: { type: 'string' },
    // Of this script itself: a process that has encoded is larger than one that only asks.
    'make-only': { type: 'boolean', default: false },
  },
})
const promptsFile = values.prompts ?? findTestData().promptsFile
const count = Number(values.count)
if (!Number.isSafeInteger(count) || count < 1) throw new Error('--count takes a whole number above zero.')
const say = (line: string) => process.stdout.write(`${line}\n`)
const residentMiB = () => process.memoryUsage().rss / 2 ** 20
const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

if (values['make-only']) await make(values.keep ?? '.')
else {
  const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'commonplace-bench-'))
  try {
    mkdirSync(folder, { recursive: true })
    const args = ['--make-only', '--count', String(count), '--prompts', promptsFile, '--keep', folder]
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...args], {
      stdio: 'inherit',
      env: { ...process.env, ENCODER: 'on' },
    })
    if (status !== 0) throw new Error('The library could not be made.')
    await measureSearches(libraryPath(folder, count))
  } finally {
    if (values.keep === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function make(folder: string): Promise<void> {
  const place = createPlace()
  try {
    const { encoded, seconds, cpuSeconds } = await makeEncodedLibrary(place, folder, promptsFile, count)
    if (encoded === 0) return
    const hours = (cpuSeconds / encoded) * (100_000 / 3600)
    say(
      `${encoded} prompts encoded in ${seconds.toFixed(0)} s, ${cpuSeconds.toFixed(0)} s of processor; 100,000 would take ${hours.toFixed(1)} h of it`,
    )
  } finally {
    await place.remove()
  }
}

async function measureSearches(path: string): Promise<void> {
  const queries = await readQueries(promptsFile, values.queries)
  const before = residentMiB()
  const app = await openLibrary(path)
  try {
    const search = app.operations.find((operation) => operation.name === 'search_prompts')
    if (!search) throw new Error('There is no search_prompts.')
    const ask = async (query: string): Promise<number> => {
      const started = performance.now()
      await search.call(app.contextFor(ANONYMOUS, 'rest'), { query, limit: 10 })
      return performance.now() - started
    }
    say(`${count} prompts, encoder ${app.encoder ? 'on' : 'off'}`)
    say(`first search, the index being read: ${(await ask('warm up')).toFixed(0)} ms`)
    say(`resident: ${before.toFixed(0)} MiB before, ${residentMiB().toFixed(0)} MiB with the index`)
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    say(`of which in use: ${mib(heapUsed)} MiB of objects, ${mib(arrayBuffers)} MiB of arrays`)
    const measure = async (label: string, rounds: number) => {
      const times: number[] = []
      const [cpu, encoder] = [readProcessorTime(process.pid), readProcessorTime(process.pid, ENCODER_THREAD)]
      for (let round = 0; round < rounds; round++) for (const query of queries) times.push(await ask(query))
      const each = (since: number, now: number) => (now - since) / 1000 / times.length
      const encoderMs = each(encoder, readProcessorTime(process.pid, ENCODER_THREAD))
      report(label, times, each(cpu, readProcessorTime(process.pid)), encoderMs)
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
}

function report(label: string, times: readonly number[], cpuMs: number, encoderMs: number): void {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  say(`${label}: ${times.length} searches, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`)
  say(
    `  ${cpuMs.toFixed(1)} ms of processor each, of which in the encoder's thread ${encoderMs.toFixed(1)} ms (${((100 * encoderMs) / cpuMs).toFixed(0)} %)`,
  )
}
