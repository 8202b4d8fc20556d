import { once } from 'node:events'
import { copyFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place, Served } from '../test/support/processes.ts'
import { drive, FLOOR_ASKS, median, startFloor } from './drive.ts'
import { measureEngine } from './engine-rate.ts'
import type { Figures } from './growth-results.ts'
import { importFile, writeImportFile } from './import-beside.ts'
import { measureCommand } from './measured-command.ts'
import { percentile } from './percentile.ts'
import { readProcessorTime, readResidentMiB } from './processor-time.ts'
import { saveBeside } from './save-beside.ts'
import { makeKeys } from './savers.ts'

const SEED = 20_261_126
const LOOKUPS = 300
const SEARCHES = 300
const LIST_PAGES = 40
const PER_PAGE = 24
const WRITERS = 100
const SAVE_ROUNDS = 3
const SAVE_SECONDS = 4
const ALONE_SECONDS = 2
const ENGINE_SECONDS = 2
const FLOOR_REQUESTS = 20_000
const FLOOR_CONNECTIONS = 64
const IMPORTED = 5_000
const LEAVING = 1_000
const READ_EVERY_MS = 20

/** A library that is measured: its own copy, which the steps write into. */
export interface Subject {
  readonly place: Place
  readonly url: string
  /** The file that is measured, or that was moved to the server. */
  readonly copy: string
  readonly promptsFile: string
  readonly queries: readonly string[]
  readonly random: () => number
}

type Step = (subject: Subject) => Promise<Figures>

const environment = (url: string, encoder: string) => ({ DATABASE_URL: url, ENCODER: encoder, RATE_LIMITS: 'off' })

async function serve({ place, url }: Subject, encoder: string): Promise<Served> {
  return await place.serve({ env: environment(url, encoder), instances: 1 })
}

async function stop({ child }: Served): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Runs work on the running service, without the encoder. */
async function whileServed<T>(subject: Subject, work: (served: Served) => Promise<T>): Promise<T> {
  const served = await serve(subject, 'off')
  try {
    await fetch(`${served.url}/api/search/prompts?query=light`)
    return await work(served)
  } finally {
    await stop(served)
  }
}

/** Asks one after the other. Times in milliseconds, and the processor time of one, in milliseconds too. */
async function ask({ url, child }: Served, paths: readonly string[]): Promise<{ readonly times: number[]; readonly cpuMs: number }> {
  const times: number[] = []
  const before = readProcessorTime(child.pid ?? 0)
  for (const path of paths) {
    const started = performance.now()
    const answer = await fetch(url + path)
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}.`)
    times.push(performance.now() - started)
  }
  return { times, cpuMs: (readProcessorTime(child.pid ?? 0) - before) / 1000 / paths.length }
}

/** Starting, and what readers ask for, with the encoder. */
const measureReads: Step = async (subject) => {
  const { queries, random, copy, url } = subject
  const started = performance.now()
  const served = await serve(subject, process.env['ENCODER'] ?? 'on')
  const pid = served.child.pid ?? 0
  while (!(await fetch(`${served.url}/readyz`, { headers: { connection: 'close' } }).catch(() => null))?.ok) await sleep(20)
  const readyMs = performance.now() - started
  const readyCpuMs = readProcessorTime(pid) / 1000
  const pick = () => queries[Math.floor(random() * queries.length)] ?? ''
  // Two queries as one were never asked before.
  const search = () => `/api/search/prompts?query=${encodeURIComponent(`${pick()} ${pick()} ${Math.floor(random() * 1000)}`)}`
  await ask(served, Array.from({ length: 50 }, search))
  const rssMiB = readResidentMiB(pid).now
  const searches = await ask(served, Array.from({ length: SEARCHES }, search))
  const page = (number: number) => `/api/prompts?perPage=${PER_PAGE}&page=${number}`
  const total = countPublic(copy)
  const far = Math.max(1, Math.floor(total / PER_PAGE) - LIST_PAGES)
  // The first page of each number of items a page is not cached yet.
  const first = await ask(
    served,
    Array.from({ length: LIST_PAGES }, (_, place) => `/api/prompts?perPage=${PER_PAGE + place}`),
  )
  const last = await ask(
    served,
    Array.from({ length: LIST_PAGES }, (_, place) => page(far + place)),
  )
  const found = samplePublic(copy, LOOKUPS * 2)
  const byId = await ask(
    served,
    found.slice(0, LOOKUPS).map(({ id }) => `/api/prompts/${id}`),
  )
  const bySlug = await ask(
    served,
    found.slice(LOOKUPS).map(({ slug }) => `/api/prompts/${slug}`),
  )
  const floor = await startFloor()
  const { cpuMicroseconds: floorUs } = await drive(floor, FLOOR_ASKS, FLOOR_CONNECTIONS, FLOOR_REQUESTS).finally(() => floor.stop())
  const rssAfterMiB = readResidentMiB(pid).now
  await stop(served)
  const file = url.startsWith('sqlite:') ? { fileMiB: mibOf(url.slice(7)), snapshotMiB: mibOf(`${url.slice(7)}.search`) } : {}
  return {
    ...file,
    readyMs,
    readyCpuMs,
    rssMiB,
    rssAfterMiB,
    floorUs,
    searchP50Ms: percentile(searches.times, 0.5),
    searchP95Ms: percentile(searches.times, 0.95),
    searchCpuMs: searches.cpuMs,
    firstPageP50Ms: percentile(first.times, 0.5),
    firstPageP95Ms: percentile(first.times, 0.95),
    farPageP50Ms: percentile(last.times, 0.5),
    farPageP95Ms: percentile(last.times, 0.95),
    lookupByIdP50Ms: percentile(byId.times, 0.5),
    lookupByIdP95Ms: percentile(byId.times, 0.95),
    lookupBySlugP50Ms: percentile(bySlug.times, 0.5),
    lookupBySlugP95Ms: percentile(bySlug.times, 0.95),
    lookupCpuMs: byId.cpuMs,
  }
}

const measureSaves: Step = async (subject) => {
  const { place, url } = subject
  const keys = await makeKeys(place, environment(url, 'off'))
  return await whileServed(subject, async (served) => {
    const rounds: { engine: number; alone: number; perSecond: number; p99: number; cpuUs: number; readsP99: number }[] = []
    for (let round = 0; round < SAVE_ROUNDS; round++) {
      const engine = measureEngine(join(place.folder, 'engine.db'), ENGINE_SECONDS)
      const alone = await saveBeside(served, keys, 1, ALONE_SECONDS)
      const { ledger, reads, cpu } = await saveBeside(served, keys, WRITERS, SAVE_SECONDS)
      const faults = [...alone.ledger.faults, ...ledger.faults]
      if (faults.length > 0) throw new Error(faults[0])
      rounds.push({
        engine,
        alone: percentile(alone.ledger.times, 0.5),
        perSecond: ledger.saves.length / SAVE_SECONDS,
        p99: percentile(ledger.times, 0.99),
        cpuUs: cpu / ledger.saves.length,
        readsP99: percentile(reads, 0.99),
      })
    }
    const of = (name: keyof (typeof rounds)[number]) => median(rounds.map((round) => round[name]))
    return {
      enginePerSecond: of('engine'),
      oneSaveP50Ms: of('alone'),
      savesPerSecond: of('perSecond'),
      savesP99Ms: of('p99'),
      saveCpuUs: of('cpuUs'),
      readsBesideSavesP99Ms: of('readsP99'),
    }
  })
}

const measureImport: Step = async (subject) => {
  const { place, url, promptsFile } = subject
  const path = join(place.folder, 'imported.jsonl')
  await writeImportFile(promptsFile, path, IMPORTED, SEED)
  return await whileServed(subject, async (served) => {
    const { seconds, cpuSeconds } = await importFile(place, served, { path, count: IMPORTED, owner: 'bench' }, environment(url, 'off'))
    return { importS: seconds, importCpuS: cpuSeconds }
  })
}

const measureExport: Step = async ({ place, url }) => {
  const figures: Record<string, number> = {}
  for (const [name, flags] of [
    ['export', []],
    ['wholeExport', ['--full']],
  ] as const) {
    const folder = join(place.folder, 'exported')
    const { seconds, cpuSeconds, peakMiB } = await measureCommand(place, ['export', folder, ...flags], environment(url, 'off'))
    rmSync(folder, { recursive: true })
    figures[`${name}S`] = seconds
    figures[`${name}CpuS`] = cpuSeconds
    figures[`${name}PeakMiB`] = peakMiB
  }
  return figures
}

const measureBackup: Step = async ({ place, url }) => {
  const file = join(place.folder, 'backup.db')
  const { seconds, cpuSeconds, peakMiB } = await measureCommand(place, ['backup', file], environment(url, 'off'))
  rmSync(file)
  return { backupS: seconds, backupCpuS: cpuSeconds, backupPeakMiB: peakMiB }
}

/** Deletes an account with its items by the command, beside the service and somebody who reads. */
const measureDeletion: Step = async (subject) => {
  const { place, url, promptsFile } = subject
  const path = join(place.folder, 'leaving.jsonl')
  await writeImportFile(promptsFile, path, LEAVING, SEED + 1)
  return await whileServed(subject, async (served) => {
    const env = environment(url, 'off')
    await importFile(place, served, { path, count: LEAVING, owner: 'leaver' }, env)
    let isOver = false
    const reads: number[] = []
    const reading = (async () => {
      while (!isOver) {
        reads.push(...(await ask(served, [`/api/prompts?perPage=10`])).times)
        await sleep(READ_EVERY_MS)
      }
    })()
    const { seconds, cpuSeconds } = await measureCommand(place, ['users', 'remove', 'leaver', '--yes'], env).finally(() => {
      isOver = true
    })
    await reading
    return { deletionS: seconds, deletionCpuS: cpuSeconds, readsBesideDeletionP99Ms: percentile(reads, 0.99) }
  })
}

/** What is measured, in this order: what leaves the library larger comes last. */
export const STEPS = {
  reads: measureReads,
  export: measureExport,
  backup: measureBackup,
  deletion: measureDeletion,
  import: measureImport,
  saves: measureSaves,
} as const satisfies Record<string, Step>

/** Copies a library with its snapshot. */
export function copyLibrary(from: string, to: string): void {
  for (const suffix of ['', '.search']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
}

function mibOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20
}

function countPublic(path: string): number {
  return Number(
    readRows(path, "select count(*) as n from item where kind = 'prompt' and visibility = 'public' and deleted_at is null")[0]?.['n'],
  )
}

/** Public prompts spread over the whole library. */
function samplePublic(path: string, count: number): { readonly id: string; readonly slug: string }[] {
  const rows = readRows(path, "select seq from item where kind = 'prompt' and visibility = 'public' and deleted_at is null order by seq")
  const seqs = Array.from({ length: count }, (_, place) => rows[Math.floor((place * 7919 * rows.length) / count) % rows.length]?.['seq'])
  return readRows(path, `select id, slug from item where seq in (${seqs.join()})`).map(({ id, slug }) => ({
    id: String(id),
    slug: String(slug),
  }))
}

function readRows(path: string, query: string): Record<string, unknown>[] {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare(query).all()
  } finally {
    db.close()
  }
}
