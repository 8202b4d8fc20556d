import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { drive, FLOOR_ASKS, median, startFloor } from '../../bench/drive.ts'
import { readProcessorTime, readRunDelayMs } from '../../bench/processor-time.ts'
import { readTip } from '../support/git-tip.ts'
import { endService, makeWatchedLibrary, serveWatched, startObserver, type WatchedLibrary } from './watched-service.ts'

/**
 * The dearest requests of a caller without a key: what each costs in processor time, and how long it keeps others from an answer.
 *
 * Both limits are milliseconds of a machine on which the floor (`bench/floor.ts`, a server of Node alone) takes `FLOOR_MICROSECONDS` of
 * processor time for a request at ten connections. A machine on which it takes twice that is half as fast, and has limits twice as long; a
 * faster one has the same limits. The floor is measured before the first request and again after each; the median of all counts.
 * What others waited is that of their slowest answer meanwhile, less the time in which the service's main thread was ready to run and the
 * machine had no core for it (`run_delay` of schedstat): that is the doing of other programs.
 */
const FLOOR_MICROSECONDS = 80
const LIMIT_MS = 25
const BATCH_LIMIT_MS = 100
const REPETITIONS = 11
/** The default limit of requests would refuse some of the batches. */
const PAUSE_MS = 150
const BIG = 4 * 1024 * 1024 - 1024

/** A request, made anew for each repetition. */
interface Dear {
  readonly limitMs: number
  /** Works in other threads by design (hashes, pictures, highlighting): only what others wait counts. */
  readonly isElsewhere?: boolean
  /** Statuses it may have. Default: 200 */
  readonly statuses?: readonly number[]
  ask(repetition: number): Asked | Promise<Asked>
}
interface Asked {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Large bodies may be refused. */
const MAY_BE_TOO_LARGE = [200, 400, 413]
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' }
const PAGE = { accept: 'text/html' }
let FORM: Readonly<Record<string, string>> = {}
let library: WatchedLibrary
let served: Awaited<ReturnType<typeof serveWatched>>
let observer: ReturnType<typeof startObserver>
let scale = 1
const floorTimes: number[] = []
let floor: Awaited<ReturnType<typeof startFloor>>
const names = { skills: [''], prompts: [''], ids: [''], tip: '' }

function callMcp(method: string, params: object = {}): Asked {
  return { method: 'POST', path: '/api/mcp', headers: JSON_HEADERS, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) }
}

function batch(message: (id: number) => object): Asked {
  const messages = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: '2.0', id, ...message(id) }))
  return { method: 'POST', path: '/api/mcp', headers: JSON_HEADERS, body: JSON.stringify(messages) }
}

/** Lines for a parameter of an address. */
const toLines = (line: (n: number) => string) => encodeURIComponent(Array.from({ length: 160 }, (_, n) => line(n)).join('\n'))
const at = (list: readonly string[], place: number) => list[place % list.length] ?? ''

const DEAREST: Readonly<Record<string, Dear>> = {
  'a batch of 20 resources/list': { limitMs: BATCH_LIMIT_MS, ask: () => batch(() => ({ method: 'resources/list' })) },
  'a batch of 20 searches': {
    limitMs: BATCH_LIMIT_MS,
    ask: (repetition) =>
      batch((id) => ({
        method: 'tools/call',
        params: { name: 'search_prompts', arguments: { query: `analysis report ${repetition * 20 + id}`, limit: 50 } },
      })),
  },
  'prompts/get with 4 MiB of arguments': {
    limitMs: LIMIT_MS,
    statuses: MAY_BE_TOO_LARGE,
    ask: () => callMcp('prompts/get', { name: library.askingPrompt, arguments: { who: 'x'.repeat(BIG) } }),
  },
  'a ping of 4 MiB': { limitMs: LIMIT_MS, statuses: MAY_BE_TOO_LARGE, ask: () => callMcp('ping', { padding: 'x'.repeat(BIG) }) },
  'JSON of as many members as are taken': {
    limitMs: LIMIT_MS,
    statuses: MAY_BE_TOO_LARGE,
    ask: () => callMcp('ping', Object.fromEntries(Array.from({ length: 19_900 }, (_, n) => [`member ${n}`, n]))),
  },
  'POST /sign-in': {
    limitMs: LIMIT_MS,
    isElsewhere: true,
    statuses: [401],
    ask: (repetition) => ({
      method: 'POST',
      path: '/sign-in',
      headers: { ...PAGE, 'content-type': 'application/x-www-form-urlencoded', origin: served.url },
      body: `name=somebody-${repetition}&password=wrong-password`,
    }),
  },
  'the page of a skill for the first time': {
    limitMs: LIMIT_MS,
    isElsewhere: true,
    ask: (repetition) => ({ path: `/skills/${at(names.skills, repetition)}`, headers: PAGE }),
  },
  'a page of results with its filters': {
    limitMs: LIMIT_MS,
    ask: (repetition) => ({ path: `/prompts?q=analysis+report+${repetition}&type=TEXT&category=coding&tag=a`, headers: PAGE }),
  },
  'a page of results of both kinds': {
    limitMs: LIMIT_MS,
    ask: (repetition) => ({ path: `/search?q=analysis+report+${repetition}`, headers: PAGE }),
  },
  'an address that was not found': {
    limitMs: LIMIT_MS,
    statuses: [404],
    ask: (repetition) => ({ path: `/prompts/analysis-report-${repetition}`, headers: PAGE }),
  },
  'a skill as a zip': { limitMs: LIMIT_MS, ask: (repetition) => ({ path: `/api/skills/${at(names.skills, repetition)}/zip` }) },
  'the card of a prompt as PNG': {
    limitMs: LIMIT_MS,
    isElsewhere: true,
    ask: (repetition) => ({ path: `/api/embed/image/${at(names.ids, repetition)}.png` }),
  },
  'resources/list': { limitMs: LIMIT_MS, ask: () => callMcp('resources/list') },
  'skills/list': { limitMs: LIMIT_MS, ask: () => callMcp('skills/list') },
  '110 misspelt words': {
    limitMs: LIMIT_MS,
    ask: (repetition) => ({
      path: `/api/prompts?q=${Array.from({ length: 110 }, (_, n) => `anlysys${String.fromCharCode(97 + ((n + repetition) % 26))}${n}`).join('+')}`,
    }),
  },
  'the difference of two versions in an embed': {
    limitMs: LIMIT_MS,
    ask: (repetition) => ({
      path: `/embed?diffOldText=${toLines((n) => `a ${n} ${repetition}`)}&diffNewText=${toLines((n) => `b ${n * 7} ${repetition}`)}`,
      headers: PAGE,
    }),
  },
  'a form of 4 MiB that fills in a prompt': {
    limitMs: LIMIT_MS,
    statuses: MAY_BE_TOO_LARGE,
    ask: () => ({
      method: 'POST',
      path: `/prompts/${library.askingPrompt}/fill`,
      headers: FORM,
      body: `v.who=${'%C3%A9'.repeat(9_000)}${Array.from({ length: 400 }, (_, n) => `&v.n${n}=${'%C3%A9'.repeat(1_650)}`).join('')}`,
    }),
  },
  'a form of 4 MiB in one field': {
    limitMs: LIMIT_MS,
    statuses: MAY_BE_TOO_LARGE,
    ask: () => ({
      method: 'POST',
      path: `/prompts/${library.askingPrompt}/fill`,
      headers: FORM,
      body: `v.who=${'%C3%A9'.repeat(BIG / 6 - 10)}`,
    }),
  },
  'a fetch by Git with 19,000 commits it has': {
    limitMs: LIMIT_MS,
    isElsewhere: true,
    ask: (repetition) =>
      askGit(Array.from({ length: 19_000 }, (_, n) => `have ${createHash('sha1').update(`${repetition} ${n}`).digest('hex')}\n`)),
  },
  'a shallow fetch by Git': { limitMs: LIMIT_MS, isElsewhere: true, ask: () => askGit(['deepen 1\n', 'done\n']) },
  'the site map': { limitMs: LIMIT_MS, ask: () => ({ path: '/sitemap.xml' }) },
}

/** A fetch of the whole library. */
function askGit(words: readonly string[]): Asked {
  const toLine = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
  const lines = ['command=fetch\n', '0001', `want ${names.tip}\n`, ...words].map((text) => (text === '0001' ? text : toLine(text)))
  const headers = { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' }
  return { method: 'POST', path: '/library.git/git-upload-pack', headers, body: `${lines.join('')}0000` }
}

const listedSlugs = z.array(z.looseObject({ id: z.string(), slug: z.string() }))

beforeAll(async () => {
  library = await makeWatchedLibrary()
  floor = await startFloor()
  served = await serveWatched(library)
  const read = async (path: string) => await (await fetch(served.url + path)).json()
  const { prompts } = z.object({ prompts: listedSlugs }).parse(await read('/api/prompts?perPage=50'))
  const { skills } = z.object({ skills: listedSlugs }).parse(await read('/api/skills?perPage=50'))
  names.prompts = prompts.map(({ slug }) => slug)
  names.ids = prompts.map(({ id }) => id)
  names.skills = skills.map(({ slug }) => slug)
  FORM = { ...PAGE, 'content-type': 'application/x-www-form-urlencoded', origin: served.url }
  names.tip = (await readTip((path, options) => fetch(served.url + path, options), '/library.git')) ?? ''
  observer = startObserver(served, library, { probes: ['healthz'], everyMs: 2 })
  await measureFloor()
}, 180_000)

afterAll(async () => {
  await observer.stop()
  await endService(served)
  await floor.stop()
  await library.place.remove()
})

async function measureFloor(): Promise<void> {
  await drive(floor, FLOOR_ASKS, 10, 2_000)
  for (let round = 0; round < 3; round++) floorTimes.push((await drive(floor, FLOOR_ASKS, 10, 2_000)).cpuMicroseconds)
  scale = Math.max(1, median(floorTimes) / FLOOR_MICROSECONDS)
}

it.each(Object.entries(DEAREST))('%s', async (name, dear) => {
  const pid = served.child.pid ?? 0
  const cpu: number[] = []
  const stalls: number[] = []
  const statuses = new Set<number>()
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const asked = await dear.ask(repetition)
    const idleMs = await measureCpu(pid, () => pause(PAUSE_MS))
    const delayBefore = readRunDelayMs(pid)
    const startedAt = Date.now()
    let tookMs = 0
    const busyMs = await measureCpu(pid, async () => {
      const started = performance.now()
      statuses.add(await askOnce(asked))
      tookMs = performance.now() - started
    })
    const endedAt = Date.now()
    const delayMs = readRunDelayMs(pid) - delayBefore
    // Some probes that began meanwhile are still on their way.
    await pause(PAUSE_MS)
    cpu.push(busyMs - (idleMs / PAUSE_MS) * tookMs)
    const meanwhile = observer.probes.filter((probe) => probe.startedAt <= endedAt && probe.startedAt + probe.ms >= startedAt)
    stalls.push(Math.max(0, Math.max(0, ...meanwhile.map(({ ms }) => ms)) - delayMs))
  }
  await measureFloor()
  const shown = (list: readonly number[]) => `${median(list).toFixed(1)} (at most ${Math.max(...list).toFixed(1)})`
  const line = `${name}: CPU ${shown(cpu)} ms, others waited ${shown(stalls)} ms, statuses ${[...statuses].join(', ')}, scale ${scale.toFixed(2)}`
  process.stderr.write(`${line}\n`)
  expect([...statuses].filter((status) => !(dear.statuses ?? [200]).includes(status))).toEqual([])
  expect(median(stalls), line).toBeLessThan(dear.limitMs * scale)
  if (!dear.isElsewhere) expect(median(cpu), line).toBeLessThan(dear.limitMs * scale)
})

/** Processor time of the whole process while something goes on, in milliseconds. */
async function measureCpu(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = readProcessorTime(pid)
  await work()
  return (readProcessorTime(pid) - before) / 1000
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Asks from an address of its own, and drops what comes. */
function askOnce({ method = 'GET', path, headers = {}, body }: Asked): Promise<number> {
  const { host, port } = served
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const options = { host, port, localAddress: '127.0.0.4', method, path, headers: { ...headers, ...length }, agent }
    const sent = request(options, (answer) => {
      answer.on('end', () => resolve(answer.statusCode ?? 0))
      answer.on('error', reject)
      answer.resume()
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
