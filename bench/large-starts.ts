import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPlace, type Place, type Served } from '../test/support/processes.ts'
import { deriveLibrary } from './derived-library.ts'
import { libraryPath, makeEncodedLibrary } from './encoded-library.ts'
import { ENCODER_THREAD, readProcessorTime } from './processor-time.ts'
import { readQueries } from './queries.ts'

/** Real prompts that larger libraries are derived from. */
const SMALL = 1257
const LOOKUPS = 300
/** The service writes a snapshot once half a minute was quiet. */
const SNAPSHOT_WAIT_MS = 10 * 60_000

/** How libraries of some sizes start, from their tables where they have no snapshot yet, then from it, and what they cost then. */
export async function measureLargeStarts(sizes: readonly number[], folder: string, promptsFile: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const place = createPlace()
  try {
    await makeEncodedLibrary(place, folder, promptsFile, SMALL)
    const queries = await readQueries(promptsFile)
    for (const size of sizes) {
      const path = join(folder, `derived-${size}.db`)
      await deriveLibrary(libraryPath(folder, SMALL), path, promptsFile, size)
      say(`${size.toLocaleString('en')} prompts, ${mib(statSync(path).size)} in the file`)
      const snapshot = `${path}.search`
      if (!existsSync(snapshot)) {
        const first = await start(place, path, 'from the tables')
        await report(first, queries.slice(0, Math.ceil(queries.length / 2)))
        await watchSnapshot(first, snapshot)
        await stop(first)
      }
      const second = await start(place, path, 'from the snapshot')
      await report(second, queries)
      await stop(second)
      say(existsSync(snapshot) ? `  snapshot: ${mib(statSync(snapshot).size)}` : '  The snapshot is gone.')
    }
  } finally {
    await place.remove()
  }
}

async function start(place: Place, path: string, label: string): Promise<Served> {
  const started = performance.now()
  const env = { DATABASE_URL: `sqlite:${path}`, ENCODER: process.env['ENCODER'] ?? 'on', RATE_LIMITS: 'off' }
  const served = await place.serve({ env })
  const listensMs = performance.now() - started
  const isReady = async () => (await fetch(`${served.url}/readyz`, { headers: { connection: 'close' } }).catch(() => null))?.ok === true
  while (!(await isReady())) await sleep(20)
  const readyMs = performance.now() - started
  const [searchMs] = await time(served, [`/api/search/prompts?query=${encodeURIComponent('story about light')}`])
  const cpuSeconds = (readProcessorTime(served.child.pid ?? 0) / 1e6).toFixed(1)
  say(
    `  ${label}: listens after ${listensMs.toFixed(0)} ms, ready after ${readyMs.toFixed(0)} ms, first search ${(searchMs ?? 0).toFixed(0)} ms, ${cpuSeconds} s of processor`,
  )
  return served
}

async function report(served: Served, queries: readonly string[]): Promise<void> {
  say(`  resident: ${memoryOf(served, 'VmRSS')} MiB, at most ${memoryOf(served, 'VmHWM')} MiB`)
  // Each two queries as one are new too, and longer.
  const pairs = queries.map((query, place) => `${query} ${queries[(place * 7 + 3) % queries.length]}`)
  const asked = [...queries, ...pairs]
  const { pid = 0 } = served.child
  const cpu = () => [readProcessorTime(pid), readProcessorTime(pid, ENCODER_THREAD)] as const
  const [before, encoderBefore] = cpu()
  sayTimes(
    'searches never asked before',
    await time(
      served,
      asked.map((query) => `/api/search/prompts?query=${encodeURIComponent(query)}`),
    ),
  )
  const [after, encoderAfter] = cpu()
  const each = (microseconds: number) => (microseconds / 1000 / asked.length).toFixed(1)
  say(`    ${each(after - before)} ms of processor each, of which in the encoder's thread ${each(encoderAfter - encoderBefore)} ms`)
  const { prompts } = (await (await fetch(`${served.url}/api/prompts?limit=50`)).json()) as { prompts: { id: string }[] }
  const ids = Array.from({ length: LOOKUPS }, (_, place) => prompts[place % prompts.length]?.id ?? '')
  sayTimes(
    'look-ups by id',
    await time(
      served,
      ids.map((id) => `/api/prompts/${id}`),
    ),
  )
  say(`  resident after that: ${memoryOf(served, 'VmRSS')} MiB`)
}

/** Asks for a search now and then until the snapshot is written, and says how long searches took while it was. */
async function watchSnapshot(served: Served, snapshot: string): Promise<void> {
  const began = performance.now()
  const times: number[] = []
  while (!existsSync(snapshot) && performance.now() - began < SNAPSHOT_WAIT_MS) {
    const [tookMs = 0] = await time(served, ['/api/prompts?limit=20'])
    times.push(tookMs)
    await sleep(20)
  }
  say(`  snapshot written ${((performance.now() - began) / 1000).toFixed(0)} s after that`)
  sayTimes('lists until then', times)
}

async function stop({ child }: Served): Promise<void> {
  const started = performance.now()
  child.kill('SIGTERM')
  await once(child, 'exit')
  say(`  stops in ${(performance.now() - started).toFixed(0)} ms`)
}

async function time({ url }: Served, paths: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (const path of paths) {
    const started = performance.now()
    const answer = await fetch(`${url}${path}`)
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}.`)
    times.push(performance.now() - started)
  }
  return times
}

function sayTimes(label: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  say(`  ${label}: ${times.length}, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`)
}

/** From the kernel's own account, in MiB. */
function memoryOf({ child }: Served, field: 'VmRSS' | 'VmHWM'): string {
  const kib = Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
  return (kib / 1024).toFixed(0)
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
