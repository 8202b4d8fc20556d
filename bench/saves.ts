// How fast saves are, beside the limit of the engine and the cost of the cheapest request, in one run: by many writers over HTTP, each answered when
// durable, with reads beside them, and by one writer alone. Writers and service share the machine.
//   npm run bench:saves [-- --seconds 10] [--rounds 3] [--writers 100] [--engine sqlite|postgresql] [--instances 1]
// Ends with 1 when a save was lost, or an answer was wrong.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findFreePort, startPostgres } from '../test/support/postgres-server.ts'
import { createPlace } from '../test/support/processes.ts'
import { findLost } from './acknowledged-saves.ts'
import { drive, FLOOR_ASKS, median, startFloor } from './drive.ts'
import { measureEngine } from './engine-rate.ts'
import { percentile } from './percentile.ts'
import { readResidentMiB } from './processor-time.ts'
import { saveBeside } from './save-beside.ts'
import { type Ledger, makeKeys, openLedger } from './savers.ts'

const ENGINE_SECONDS = 2
const FLOOR_REQUESTS = 20_000
const FLOOR_CONNECTIONS = 64
const ALONE_SECONDS = 3

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    writers: { type: 'string', default: '100' },
    engine: { type: 'string', default: 'sqlite' },
    instances: { type: 'string', default: '1' },
  },
})
const [seconds, rounds, writers, instances] = [values.seconds, values.rounds, values.writers, values.instances].map(Number) as [
  number,
  number,
  number,
  number,
]
if (![rounds, writers, instances].every((count) => Number.isSafeInteger(count) && count > 0) || !(seconds > 0)) {
  throw new Error('--seconds takes a number, --rounds, --writers and --instances whole numbers.')
}
if (!['sqlite', 'postgresql'].includes(values.engine)) throw new Error('--engine takes sqlite or postgresql.')
const say = (line: string) => process.stdout.write(`${line}\n`)

const place = createPlace()
const server = values.engine === 'postgresql' ? await startPostgres([]) : null
const floor = await startFloor()
try {
  const env = {
    DATABASE_URL: server?.url ?? `sqlite:${join(place.folder, 'saves.db')}`,
    RATE_LIMITS: 'off',
    ...(instances === 1 ? { PORT: String(await findFreePort()) } : {}),
  }
  const keys = await makeKeys(place, env)
  const served = await place.serve({ env, instances })
  const ledger = openLedger()
  const figures: Record<'engine' | 'perSecond' | 'p50' | 'p99' | 'cpu' | 'floor' | 'reads' | 'alone', number[]> = {
    engine: [],
    perSecond: [],
    p50: [],
    p99: [],
    cpu: [],
    floor: [],
    reads: [],
    alone: [],
  }
  const saved: Ledger['saves'] = []
  for (let round = 0; round < rounds; round++) {
    figures.engine.push(measureEngine(join(place.folder, 'engine.db'), ENGINE_SECONDS))
    figures.floor.push((await drive(floor, FLOOR_ASKS, FLOOR_CONNECTIONS, FLOOR_REQUESTS)).cpuMicroseconds)
    const alone = await saveBeside(served, keys, 1, ALONE_SECONDS)
    const many = await saveBeside(served, keys, writers, seconds)
    figures.alone.push(percentile(alone.ledger.times, 0.5))
    figures.perSecond.push(many.ledger.saves.length / seconds)
    figures.p50.push(percentile(many.ledger.times, 0.5))
    figures.p99.push(percentile(many.ledger.times, 0.99))
    figures.cpu.push(many.cpu / many.ledger.saves.length)
    figures.reads.push(percentile(many.reads, 0.99))
    for (const one of [alone, many]) {
      saved.push(...one.ledger.saves)
      ledger.faults.push(...one.ledger.faults, ...[...one.ledger.refused].map(([what, count]) => `${count} ${what}`))
    }
  }
  const { lost, told } = await findLost(served.url, saved)
  const of = (name: keyof typeof figures) => median(figures[name])
  say(`${values.engine}, ${instances} instance(s), ${writers} writers, medians of ${rounds} rounds of ${seconds} s:`)
  say(`  engine alone: ${of('engine').toFixed(0)} saves/s in commits of 50`)
  say(
    `  saves: ${of('perSecond').toFixed(0)}/s, ${((of('perSecond') / of('engine')) * 100).toFixed(1)} % of the engine; p50 ${of('p50').toFixed(1)} ms, p99 ${of('p99').toFixed(1)} ms`,
  )
  say(
    `  processor of a save: ${of('cpu').toFixed(0)} µs, ${(of('cpu') / of('floor')).toFixed(1)} × the floor of ${of('floor').toFixed(0)} µs`,
  )
  say(`  reads beside them: p99 ${of('reads').toFixed(1)} ms`)
  say(`  one writer alone: p50 ${of('alone').toFixed(2)} ms`)
  say(`  resident: ${readResidentMiB(served.child.pid ?? 0).now.toFixed(0)} MiB; lost: ${lost} of ${saved.length}`)
  for (const line of [...told, ...ledger.faults]) say(`  ${line}`)
  if (lost > 0 || ledger.faults.length > 0) process.exitCode = 1
} finally {
  await floor.stop()
  await place.remove()
  await server?.stop()
}
