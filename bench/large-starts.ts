import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../test/support/postgres-server.ts'
import { createPlace, type Place, type Served } from '../test/support/processes.ts'
import { deriveLibrary } from './derived-library.ts'
import { libraryPath, makeEncodedLibrary } from './encoded-library.ts'
import { ENCODER_THREAD, readProcessorTime } from './processor-time.ts'
import { readQueries } from './queries.ts'
import { type StartedLibrary, startedFile, startedOnServer } from './started-library.ts'

/** Real prompts that larger libraries are derived from. */
const SMALL = 1257
const LOOKUPS = 300
/** The service writes a snapshot once half a minute was quiet. */
const SNAPSHOT_WAIT_MS = 10 * 60_000

/** How libraries of some sizes start, from their tables where they have no snapshot yet, then from it, and what they cost then. */
export async function measureLargeStarts(
  sizes: readonly number[],
  folder: string,
  promptsFile: string,
  isOnServer: boolean,
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const place = createPlace()
  const server = isOnServer ? await startPostgres([]) : null
  try {
    await makeEncodedLibrary(place, folder, promptsFile, SMALL)
    const queries = await readQueries(promptsFile)
    for (const size of sizes) {
      const path = join(folder, `derived-${size}.db`)
      await deriveLibrary(libraryPath(folder, SMALL), path, promptsFile, size)
      const library = server ? await startedOnServer(server, place, path, `derived_${size}`) : startedFile(path)
      say(`${size.toLocaleString('en')} prompts, ${mib((await library.measure()).libraryBytes)} in the ${server ? 'database' : 'file'}`)
      if (library.readState() === 'none') {
        const first = await start(place, library, 'from the tables')
        await report(first, queries.slice(0, Math.ceil(queries.length / 2)))
        await watchSnapshot(first, library)
        await stop(first)
      }
      const second = await start(place, library, 'from the snapshot')
      await report(second, queries)
      await stop(second)
      const { snapshotBytes } = await library.measure()
      say(snapshotBytes > 0 ? `  snapshot: ${mib(snapshotBytes)}` : '  The snapshot is gone.')
      await library.close()
    }
  } finally {
    await place.remove()
    await server?.stop()
  }
}

async function start(place: Place, { url, dataFolder }: StartedLibrary, label: string): Promise<Served> {
  const started = performance.now()
  const env = { DATABASE_URL: url, DATA_DIR: dataFolder, ENCODER: process.env['ENCODER'] ?? 'on', RATE_LIMITS: 'off' }
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

/** Asks for a list now and then until the snapshot is written, and says how long lists took before and meanwhile. */
async function watchSnapshot(served: Served, library: StartedLibrary): Promise<void> {
  const began = performance.now()
  const times: Record<'none' | 'writing', number[]> = { none: [], writing: [] }
  let beganWriting: number | null = null
  for (;;) {
    const state = library.readState()
    if (state === 'whole' || performance.now() - began > SNAPSHOT_WAIT_MS) break
    if (state === 'writing') beganWriting ??= performance.now()
    const [tookMs = 0] = await time(served, ['/api/prompts?limit=20'])
    times[state].push(tookMs)
    await sleep(5)
  }
  const now = performance.now()
  const wroteMs = beganWriting === null ? 0 : now - beganWriting
  say(`  snapshot written ${((now - began) / 1000).toFixed(0)} s after that, in ${wroteMs.toFixed(0)} ms`)
  sayTimes('lists until then', times.none)
  if (times.writing.length > 0) sayTimes('lists meanwhile', times.writing)
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
