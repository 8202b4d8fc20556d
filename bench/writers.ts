// Whether what was acknowledged stays saved, and how fast saves are, with many writers at once: the built service over HTTP, killed twice meanwhile
// (SIGKILL) and started again, and on PostgreSQL the database server too (stopped at once, as by a crash), which keeps its files as it does by default.
//   npm run bench:writers [-- --seconds 60] [--writers 100] [--engine sqlite|postgresql] [--no-kill]
// Among the saves are some that must be refused. Ends with 1 when a save that was acknowledged is not there as it was, a refused one is, or an
// answer was 500.
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findFreePort, type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import { createPlace, type Served } from '../test/support/processes.ts'
import { findLost } from './acknowledged-saves.ts'
import { seededRandom } from './recombined-prompts.ts'
import { makeKeys, openLedger, write } from './savers.ts'

const ENGINES = ['sqlite', 'postgresql']
const SEED = 20_261_121

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    writers: { type: 'string', default: '100' },
    engine: { type: 'string' },
    kill: { type: 'boolean', default: true },
  },
  allowNegative: true,
})
const [seconds, writers] = [Number(values.seconds), Number(values.writers)]
const engines = ENGINES.filter((engine) => values.engine === undefined || values.engine === engine)
if (!(seconds > 0) || !Number.isSafeInteger(writers) || writers < 1 || engines.length === 0) {
  throw new Error(`--seconds and --writers take numbers, --engine one of ${ENGINES.join(', ')}.`)
}
const say = (line: string) => process.stdout.write(`${line}\n`)
for (const engine of engines) await measure(engine)

async function measure(engine: string): Promise<void> {
  const place = createPlace()
  const server = engine === 'postgresql' ? await startPostgres([]) : null
  try {
    const env = {
      DATABASE_URL: server?.url ?? `sqlite:${join(place.folder, 'writers.db')}`,
      RATE_LIMITS: 'off',
      PORT: String(await findFreePort()),
    }
    const keys = await makeKeys(place, env)
    const serve = () => place.serve({ env, instances: 1 })
    const first = await serve()
    const ledger = openLedger()
    const started = performance.now()
    let isBroken = !values.kill
    const isOver = () => isBroken && performance.now() >= started + seconds * 1000
    const random = seededRandom(SEED)
    const pools = keys.map(() => [] as string[])
    const breaking = async () => {
      if (values.kill) await breakThings(serve, first, server, ledger.saves)
      isBroken = true
    }
    await Promise.all([
      breaking(),
      ...Array.from({ length: writers }, (_, writer) => {
        const person = writer % keys.length
        return write(first.url, { writer, key: keys[person] ?? '', pool: pools[person] ?? [], isOver, random }, ledger)
      }),
    ])
    const tookSeconds = (performance.now() - started) / 1000
    const { lost, told } = await findLost(first.url, ledger.saves)
    const sorted = ledger.times.toSorted((a, b) => a - b)
    const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1)
    const pause = ledger.at.reduce((longest, when, index) => Math.max(longest, when - (ledger.at[index - 1] ?? when)), 0)
    const refused = [...ledger.refused].map(([what, count]) => `${count} ${what}`).join(', ')
    say(
      `${engine}: ${writers} writers, ${tookSeconds.toFixed(0)} s${values.kill ? `, the service killed twice${server ? ', the database server once' : ''}` : ''}`,
    )
    say(
      `  ${ledger.saves.length} saves acknowledged of ${new Set(ledger.saves.map(({ id }) => id)).size} prompts, ${(ledger.saves.length / tookSeconds).toFixed(0)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
    )
    say(`  longest stretch without any: ${(pause / 1000).toFixed(1)} s`)
    say(`  not acknowledged: ${refused || 'none'}; refused as they had to be: ${ledger.wellRefused}`)
    say(`  lost: ${lost}`)
    for (const line of [...told, ...ledger.faults]) say(`  ${line}`)
    if (lost > 0 || ledger.faults.length > 0 || ledger.saves.length === 0 || ledger.wellRefused === 0) process.exitCode = 1
  } finally {
    await place.remove()
    await server?.stop()
  }
}

/**
 * Kills the service after a quarter and a half of the time, and the database server after three quarters: on a slow machine later, once as many
 * saves were acknowledged as there are writers. Resolves when as many were after the last.
 */
async function breakThings(
  serve: () => Promise<Served>,
  first: Served,
  server: PostgresServer | null,
  saves: readonly unknown[],
): Promise<void> {
  const untilSaved = async () => {
    const enough = saves.length + writers
    while (saves.length < enough) await sleep(20)
  }
  let { child } = first
  for (let kill = 0; kill < 2; kill++) {
    await sleep(seconds * 250)
    await untilSaved()
    child.kill('SIGKILL')
    await once(child, 'exit')
    child = (await serve()).child
  }
  await sleep(seconds * 250)
  await untilSaved()
  await server?.restart()
  await untilSaved()
}
