// How fast the command "import" writes prompts into a library that a service reads beside it, and what reads at a fixed rate take meanwhile: an
// open loop, each read timed from the moment it was due. Command, service and reader share the machine.
//   npm run bench:import [-- --size 100000] [--rate 100] [--prompts FILE.csv]
// The encoder is off; with ENCODER=on the service encodes what is imported beside it. Ends with 1 when a read failed.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createPlace } from '../test/support/processes.ts'
import { findTestData } from '../test/support/real-data.ts'
import { measureEngine } from './engine-rate.ts'
import { importFile, readBeside, writeImportFile } from './import-beside.ts'
import { libraryMiB, makeLibrary } from './library-files.ts'
import { percentile } from './percentile.ts'

const SEED = 20_261_125
const SMALL = 1257
const ENGINE_SECONDS = 2

const { values } = parseArgs({
  options: { size: { type: 'string', default: '100000' }, rate: { type: 'string', default: '100' }, prompts: { type: 'string' } },
})
const [size, rate] = [Number(values.size), Number(values.rate)]
if (!Number.isSafeInteger(size) || size < 1 || !(rate > 0)) throw new Error('--size and --rate take numbers above zero.')
const promptsFile = values.prompts ?? findTestData().promptsFile
const say = (line: string) => process.stdout.write(`${line}\n`)
const at = (times: readonly number[], share: number) => percentile(times, share).toFixed(1)

const place = createPlace()
try {
  const path = join(place.folder, 'import.db')
  const file = { path: join(place.folder, 'import.jsonl'), count: size, owner: 'bench' }
  const env = { DATABASE_URL: `sqlite:${path}`, ENCODER: process.env['ENCODER'] ?? 'off', RATE_LIMITS: 'off' }
  await makeLibrary(place, path, promptsFile, SMALL)
  await writeImportFile(promptsFile, file.path, size, SEED)
  const engine = measureEngine(join(place.folder, 'engine.db'), ENGINE_SECONDS)
  const served = await place.serve({ env, instances: 1 })
  let isOver = false
  const reading = readBeside(served.url, rate, () => isOver)
  const { seconds, cpuSeconds, serviceCpuSeconds } = await importFile(place, served, file, env).finally(() => {
    isOver = true
  })
  const { byKind, faults } = await reading
  const perSecond = size / seconds
  say(`${size} prompts imported in ${seconds.toFixed(1)} s: ${perSecond.toFixed(0)}/s; the file has ${libraryMiB(path).toFixed(0)} MiB`)
  say(
    `  engine alone: ${engine.toFixed(0)} saves/s in commits of 50; the import reaches ${((perSecond / engine) * 100).toFixed(1)} % of it`,
  )
  say(
    `  processor: ${cpuSeconds.toFixed(1)} s of the command, ${((cpuSeconds / size) * 1e6).toFixed(0)} µs a prompt; ${serviceCpuSeconds.toFixed(1)} s of the service`,
  )
  const all = [...byKind.values()].flat()
  for (const [kind, times] of [['reads', all] as const, ...byKind]) {
    say(
      `  ${kind}, ${times.length} beside it: p50 ${at(times, 0.5)} ms, p95 ${at(times, 0.95)} ms, p99 ${at(times, 0.99)} ms, longest ${at(times, 1)} ms`,
    )
  }
  for (const fault of faults.slice(0, 10)) say(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
} finally {
  await place.remove()
}
