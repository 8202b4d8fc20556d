// What requests cost: requests a second, times, and processor time beside that of a floor, a server made of Node alone that is asked in the same run.
//   npm run bench [-- --sizes 1257,12570,100000] [--connections 1,10,64] [--seconds 0.6] [--rounds 3] [--only NAME,NAME]
//                    [--prompts FILE.csv] [--queries FILE.tsv] [--keep FOLDER] [--json]
// Without --prompts the data folder beside the checkout is used where there is one, else the starter library.
// --keep leaves the libraries in a folder, and uses them when they are there already: the largest takes minutes to make.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createPlace } from '../test/support/processes.ts'
import { findTestData } from '../test/support/real-data.ts'
import { judge } from './budgets.ts'
import { drive, FLOOR_ASKS, type Measured, median, startFloor, type Target } from './drive.ts'
import { libraryMiB, makeLibrary } from './library-files.ts'
import { keepAnswered, MEASURED, samplePrompts } from './measured-requests.ts'
import { readProcessorTime, readResidentMiB } from './processor-time.ts'
import { readQueries } from './queries.ts'
import { seededRandom } from './recombined-prompts.ts'
import { type RequestFigures, type Results, type SizeFigures, toTable } from './results.ts'
import { type Saver, startSaver } from './saver.ts'

const SEED = 20_261_121
/**
 * How many requests of a kind go before those that count: code is slow until it was called so often that it is compiled, however fast the
 * machine is. And for how long at most.
 */
const WARM_UP = 3_000
const WARM_UP_SECONDS = 20
const STARTS = 3
const METRICS_TOKEN = 'token-of-the-benchmark'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1257' },
    connections: { type: 'string', default: '1,10,64' },
    seconds: { type: 'string', default: '0.4' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    prompts: { type: 'string' },
    queries: { type: 'string' },
    keep: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const promptsFile = values.prompts ?? findTestData().promptsFile
const toNumbers = (text: string) => text.split(',').map(Number)
const [sizes, connectionCounts] = [toNumbers(values.sizes), toNumbers(values.connections)]
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
if (![...sizes, ...connectionCounts, rounds].every((count) => Number.isSafeInteger(count) && count > 0) || !(seconds > 0)) {
  throw new Error('--sizes, --connections and --rounds take whole numbers, --seconds a number.')
}
const chosen = MEASURED.filter(({ name }) => values.only === undefined || values.only.split(',').some((part) => name.includes(part)))
if (chosen.length === 0) throw new Error(`--only names none of: ${MEASURED.map(({ name }) => name).join(', ')}.`)

const say = (line: string) => process.stderr.write(`${line}\n`)
const place = createPlace()
/** How much the floor is asked in one turn, by connections: it is warm once it is. */
const floorAmounts = new Map<number, number>()
const floor = await startFloor()

try {
  const folder = values.keep ?? place.folder
  mkdirSync(folder, { recursive: true })
  const figures: SizeFigures[] = []
  for (const size of sizes) figures.push(await measureSize(size, join(folder, `library-${size}.db`)))
  const results: Results = { sizes: figures, budgets: judge(figures) }
  process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : toTable(results))
} finally {
  await floor.stop()
  await place.remove()
}

async function measureSize(size: number, path: string): Promise<SizeFigures> {
  if (!existsSync(path)) say(`making a library of ${size} prompts`)
  await makeLibrary(place, path, promptsFile, size)
  const database = libraryMiB(path)
  const env = {
    DATABASE_URL: `sqlite:${path}`,
    RATE_LIMITS: 'off',
    IMPROVE_DAILY_REQUESTS: 'off',
    IMPROVE_DAILY_CHARACTERS: 'off',
    METRICS_TOKEN,
  }
  const key = (await place.commonplace(['keys', 'create', '--user', 'bench', '--name', 'bench'], { env })).stdout.match(/cpb_\w+/)?.[0]
  if (key === undefined) throw new Error('No key could be made.')

  const startsMs: number[] = []
  for (let start = 1; ; start++) {
    const started = performance.now()
    const { url, child } = await place.serve({ env, instances: 1 })
    await search(url)
    startsMs.push(performance.now() - started)
    if (start < STARTS) {
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('exit', resolve))
      continue
    }
    const target = { url, pid: child.pid ?? 0 }
    const rssAtStart = readResidentMiB(target.pid).now
    const prompts = await samplePrompts(url, seededRandom(SEED))
    const library = {
      url,
      key,
      prompts,
      queries: [...(await readQueries(promptsFile, values.queries)), ...prompts.map(({ title }) => title)],
    }
    const requests: RequestFigures[] = []
    for (const measured of chosen) {
      const asks = await keepAnswered(url, measured, await measured.makeAsks(library))
      say(`${size} prompts: ${measured.name}, ${measured.makeNext ? 'no request twice' : `${asks.length} different requests`}`)
      const byConnections = []
      for (const connections of connectionCounts) {
        const saver = measured.isWhileSaving ? await startSaver(library, target.pid) : null
        byConnections.push(await measureBoth(target, measured.makeNext?.(library) ?? asks, connections, saver))
        await saver?.stop()
      }
      requests.push({ name: measured.name, variety: measured.makeNext ? null : asks.length, byConnections })
    }
    const rss = readResidentMiB(target.pid)
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
    return { size, startMs: median(startsMs), rssAtStart, rssAfter: rss.now, rssPeak: rss.peak, databaseMiB: database, requests }
  }
}

/** Measures in turns with the floor, so that what else the machine does falls on both. The ratio is the middle one of the turns. */
async function measureBoth(
  target: Target,
  asks: Parameters<typeof drive>[1],
  connections: number,
  saver: Saver | null,
): Promise<RequestFigures['byConnections'][number]> {
  const roundUp = (amount: number) => Math.max(1, Math.ceil(amount / connections)) * connections
  const prepare = async (one: Target, of: typeof asks) => {
    const first = await drive(one, of, connections, roundUp(WARM_UP / 20))
    const { perSecond } = await drive(one, of, connections, roundUp(Math.min(WARM_UP, first.perSecond * WARM_UP_SECONDS)))
    return roundUp(perSecond * seconds)
  }
  const amount = await prepare(target, asks)
  const floorAmount = floorAmounts.get(connections) ?? (await prepare(floor, FLOOR_ASKS))
  floorAmounts.set(connections, floorAmount)
  const own: Measured[] = []
  const saves = { count: 0, ms: 0, cpuMicroseconds: 0 }
  const floors: Measured[] = []
  const lookUpsBefore = saver && (await readLookUps(target.url))
  for (let round = 0; round < rounds; round++) {
    floors.push(await drive(floor, FLOOR_ASKS, connections, floorAmount))
    const before = { count: saver?.count() ?? 0, ms: performance.now(), cpu: readProcessorTime(target.pid) }
    own.push(await drive(target, asks, connections, amount))
    saves.count += (saver?.count() ?? 0) - before.count
    saves.ms += performance.now() - before.ms
    saves.cpuMicroseconds += readProcessorTime(target.pid) - before.cpu
  }
  const middle = (list: readonly Measured[], read: (one: Measured) => number) => median(list.map(read))
  return {
    connections,
    perSecond: middle(own, (one) => one.perSecond),
    p50Ms: middle(own, (one) => one.p50Ms),
    p99Ms: middle(own, (one) => one.p99Ms),
    cpuMicroseconds: middle(own, (one) => one.cpuMicroseconds),
    floorCpuMicroseconds: middle(floors, (one) => one.cpuMicroseconds),
    ratio: median(own.map((one, round) => one.cpuMicroseconds / (floors[round]?.cpuMicroseconds ?? Number.NaN))),
    rss: readResidentMiB(target.pid).now,
    ...(saver
      ? {
          saves: {
            perSecond: (saves.count / saves.ms) * 1000,
            cpuMicroseconds: saver.cpuMicroseconds,
            share: (saves.count * saver.cpuMicroseconds) / saves.cpuMicroseconds,
            hits: compareLookUps(lookUpsBefore ?? new Map(), await readLookUps(target.url)),
          },
        }
      : {}),
  }
}

/** Look-ups in caches so far, by cache. */
async function readLookUps(url: string): Promise<Map<string, { hit: number; miss: number }>> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  const lookUps = new Map<string, { hit: number; miss: number }>()
  for (const [, cache = '', result, count] of (await answer.text()).matchAll(
    /cache_lookups_total\{cache="(\w+)",result="(\w+)"\} (\d+)/g,
  )) {
    const one = lookUps.get(cache) ?? { hit: 0, miss: 0 }
    one[result === 'hit' ? 'hit' : 'miss'] += Number(count)
    lookUps.set(cache, one)
  }
  return lookUps
}

/** The share that each cache answered between two readings; only those that were asked. */
function compareLookUps(
  before: ReadonlyMap<string, { hit: number; miss: number }>,
  after: ReadonlyMap<string, { hit: number; miss: number }>,
) {
  return [...after].flatMap(([cache, { hit, miss }]) => {
    const hits = hit - (before.get(cache)?.hit ?? 0)
    const all = hits + miss - (before.get(cache)?.miss ?? 0)
    return all === 0 ? [] : [{ cache, share: hits / all }]
  })
}

async function search(url: string): Promise<void> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search_prompts', arguments: { query: 'writer' } },
  })
  const answer = await fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (!answer.ok || !(await answer.text()).includes('"count":')) throw new Error('The first search was not answered.')
}
