// Guards the processor time of requests in CI: fails when one takes three times its budget, or passes a limit of its own.
// `npm run bench` measures exactly.
//   npm run bench:guard
import { join } from 'node:path'
import { createPlace } from '../test/support/processes.ts'
import { STARTER } from '../test/support/real-data.ts'
import { type Ask, drive, FLOOR_ASKS, median, startFloor } from './drive.ts'
import { makeLibrary } from './library-files.ts'
import { keepAnswered, MEASURED, samplePrompts } from './measured-requests.ts'
import { seededRandom } from './recombined-prompts.ts'

/** How far above its budget a request may be. Processor time is compared with a bare server's in the same moments; wall time is not. */
const MARGIN = 3
/** Prompts in the library: the size the budgets are for. */
const SIZE = 1_257
const CONNECTIONS = 64
const WARM_UP = 640
const REQUESTS = 320
const ROUNDS = 3
/** How often a request that is past its limit is measured before that is believed: a collection of garbage can fall into one measurement. */
const MEASUREMENTS = 3

const place = createPlace()
const floor = await startFloor()
try {
  const path = join(place.folder, 'guard.db')
  await makeLibrary(place, path, STARTER.promptsFile, SIZE)
  const env = { DATABASE_URL: `sqlite:${path}`, RATE_LIMITS: 'off' }
  const { url, child } = await place.serve({ env, instances: 1 })
  const target = { url, pid: child.pid ?? 0 }
  await drive(floor, FLOOR_ASKS, CONNECTIONS, WARM_UP)
  const prompts = await samplePrompts(url, seededRandom(1))
  const made = await place.commonplace(['keys', 'create', '--user', 'bench', '--name', 'guard'], { env })
  const key = made.stdout.match(/cpb_\w+/)?.[0]
  if (key === undefined) throw new Error(`No key could be made: ${made.stderr}`)
  const library = { url, key, prompts, queries: prompts.map(({ title }) => title) }

  const measure = async (asks: readonly Ask[] | (() => Ask)): Promise<number> => {
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await drive(floor, FLOOR_ASKS, CONNECTIONS, REQUESTS)
      ratios.push((await drive(target, asks, CONNECTIONS, REQUESTS)).cpuMicroseconds / bare.cpuMicroseconds)
    }
    return median(ratios)
  }

  let judged = 0
  const tooDear: string[] = []
  for (const request of MEASURED) {
    if (request.budget === undefined) continue
    const sample = await keepAnswered(url, request, (await request.makeAsks(library)).slice(0, CONNECTIONS))
    // Requests that must never have been made before are not repeated: their answers would be cached.
    const asks = request.makeNext?.(library) ?? sample
    await drive(target, asks, CONNECTIONS, WARM_UP)
    const limit = request.guardLimit ?? request.budget * MARGIN
    let ratio = Number.NaN
    // Written so that a ratio that is no number fails too.
    for (let turn = 0; turn < MEASUREMENTS && !(ratio < limit); turn++) ratio = await measure(asks)
    const isMet = ratio < limit
    judged++
    if (!isMet) tooDear.push(request.name)
    process.stdout.write(`${isMet ? 'ok  ' : 'FAIL'} ${request.name}: ${ratio.toFixed(1)} × a bare server, limit ${limit.toFixed(1)} ×\n`)
  }
  if (judged === 0) throw new Error('No request has a budget.')
  if (tooDear.length > 0) {
    process.stderr.write(`Past the limit: ${tooDear.join(', ')}. Measure with npm run bench.\n`)
    process.exitCode = 1
  }
} finally {
  await floor.stop()
  await place.remove()
}
