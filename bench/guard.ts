// Guards the processor time of requests in CI: fails when one takes three times its budget. `npm run bench` measures exactly.
//   npm run bench:guard
import { join } from 'node:path'
import { createPlace } from '../test/support/processes.ts'
import { STARTER } from '../test/support/real-data.ts'
import { drive, FLOOR_ASKS, median, startFloor } from './drive.ts'
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

const place = createPlace()
const floor = await startFloor()
try {
  const path = join(place.folder, 'guard.db')
  await makeLibrary(place, path, STARTER.promptsFile, SIZE)
  const { url, child } = await place.serve({ env: { DATABASE_URL: `sqlite:${path}`, RATE_LIMITS: 'off' }, instances: 1 })
  const target = { url, pid: child.pid ?? 0 }
  await drive(floor, FLOOR_ASKS, CONNECTIONS, WARM_UP)
  const prompts = await samplePrompts(url, seededRandom(1))
  const library = { url, key: '', prompts, queries: prompts.map(({ title }) => title) }

  let judged = 0
  const tooDear: string[] = []
  for (const request of MEASURED) {
    if (request.budget === undefined) continue
    const asks = await keepAnswered(url, request, (await request.makeAsks(library)).slice(0, CONNECTIONS))
    await drive(target, asks, CONNECTIONS, WARM_UP)
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await drive(floor, FLOOR_ASKS, CONNECTIONS, REQUESTS)
      ratios.push((await drive(target, asks, CONNECTIONS, REQUESTS)).cpuMicroseconds / bare.cpuMicroseconds)
    }
    const [ratio, limit] = [median(ratios), request.budget * MARGIN]
    // Written so that a ratio that is no number fails too.
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
