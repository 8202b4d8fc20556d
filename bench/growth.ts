// How everything grows with the library: its file, its start, memory, searches, lists, look-ups, saves, an import, exports, a backup and the
// deletion of an account, each in a derived library of its own. Processor time stands beside times, which depend on what else the machine does.
//   npm run bench:growth [-- --sizes 1257,10000,100000,1000000] [--engine sqlite|postgresql] [--only reads,export,backup,deletion,import,saves]
//     [--keep FOLDER] [--prompts FILE.csv]
// Figures go to bench/results/growth.json, beside those that are there. --keep leaves the derived libraries in a folder, and uses those that are
// there; a million takes 6 GB, the same again while it is measured, and half an hour.
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startPostgres } from '../test/support/postgres-server.ts'
import { createPlace, type Place } from '../test/support/processes.ts'
import { findTestData } from '../test/support/real-data.ts'
import { deriveLibrary } from './derived-library.ts'
import { libraryPath, makeEncodedLibrary } from './encoded-library.ts'
import { ENGINES, type Engine, keepGrowth } from './growth-results.ts'
import { copyLibrary, STEPS } from './growth-steps.ts'
import { measureCommand } from './measured-command.ts'
import { readQueries } from './queries.ts'
import { seededRandom } from './recombined-prompts.ts'

const SEED = 20_261_127
/** Real prompts that larger libraries are derived from. */
const SMALL = 1257
/** Libraries from this size on have a snapshot of their index; the service writes it once half a minute was quiet. */
const SNAPSHOT_FROM = 2_000
const SNAPSHOT_WAIT_MS = 20 * 60_000

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1257,10000,100000,1000000' },
    engine: { type: 'string', default: 'sqlite' },
    only: { type: 'string' },
    keep: { type: 'string' },
    prompts: { type: 'string' },
  },
})
const sizes = values.sizes.split(',').map(Number)
const engine = ENGINES.find((one) => one === values.engine)
const asked = values.only?.split(',') ?? Object.keys(STEPS)
if (!engine) throw new Error(`--engine takes ${ENGINES.join(' or ')}.`)
if (!sizes.every((size) => Number.isSafeInteger(size) && size >= SMALL)) throw new Error(`--sizes takes numbers from ${SMALL} on.`)
if (!asked.every((name) => name in STEPS)) throw new Error(`--only takes some of ${Object.keys(STEPS).join(', ')}.`)
const promptsFile = values.prompts ?? findTestData().promptsFile
const say = (line: string) => process.stdout.write(`${line}\n`)
for (const size of sizes) await measure(engine, size)

/** Serves a library until its index is written beside it. @throws Error when it is not, after twenty minutes */
async function writeSnapshot(place: Place, path: string): Promise<void> {
  const env = { DATABASE_URL: `sqlite:${path}`, ENCODER: process.env['ENCODER'] ?? 'on' }
  const { child } = await place.serve({ env, instances: 1 })
  for (const started = performance.now(); !existsSync(`${path}.search`); await sleep(500)) {
    if (performance.now() - started > SNAPSHOT_WAIT_MS) throw new Error(`No snapshot of ${path} was written.`)
  }
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function measure(engine: Engine, size: number): Promise<void> {
  const place = createPlace()
  const server = engine === 'postgresql' ? await startPostgres([]) : null
  try {
    const folder = values.keep ?? place.folder
    mkdirSync(folder, { recursive: true })
    const small = libraryPath(folder, SMALL)
    await makeEncodedLibrary(place, folder, promptsFile, SMALL)
    const source = size === SMALL ? small : join(folder, `derived-${size}.db`)
    if (size !== SMALL) await deriveLibrary(small, source, promptsFile, size)
    if (size >= SNAPSHOT_FROM && !existsSync(`${source}.search`)) await writeSnapshot(place, source)
    const copy = join(place.folder, 'growth.db')
    copyLibrary(source, copy)
    say(`${size.toLocaleString('en')} prompts, ${engine}`)
    if (server) {
      const { seconds } = await measureCommand(place, ['migrate-data', '--from', `sqlite:${copy}`, '--to', server.url], {})
      keepGrowth(engine, size, { moveS: seconds })
      say(`  moveS ${seconds.toFixed(1)}`)
    }
    const queries = await readQueries(promptsFile)
    const subject = { place, url: server?.url ?? `sqlite:${copy}`, copy, promptsFile, queries, random: seededRandom(SEED) }
    for (const [name, step] of Object.entries(STEPS)) {
      if (!asked.includes(name)) continue
      const figures = await step(subject)
      keepGrowth(engine, size, figures)
      for (const [what, value] of Object.entries(figures)) say(`  ${what} ${Number(value.toPrecision(4))}`)
    }
  } finally {
    await place.remove()
    await server?.stop()
  }
}
