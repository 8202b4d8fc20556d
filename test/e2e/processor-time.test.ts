import { afterAll, beforeAll, expect, it } from 'vitest'
import { drive, FLOOR_ASKS, median, startFloor, type Target } from '../../bench/drive.ts'
import { keepAnswered, MEASURED, samplePrompts } from '../../bench/measured-requests.ts'
import { seededRandom } from '../../bench/recombined-prompts.ts'
import { createPlace } from '../support/processes.ts'
import { findTestData } from '../support/real-data.ts'

/** How much above its budget a request may be here. Its processor time beside that of a bare server in the same moments is compared, and no clock. */
const MARGIN = 3
const CONNECTIONS = 64
const WARM_UP = 640
const REQUESTS = 320
const ROUNDS = 3

const place = createPlace()
let target: Target
let floor: Awaited<ReturnType<typeof startFloor>>
let library: Parameters<(typeof MEASURED)[number]['makeAsks']>[0]

beforeAll(async () => {
  const { code, stderr } = await place.commonplace(['import', 'prompts', findTestData().promptsFile, '--user', 'bench', '--public'])
  expect(code, stderr).toBe(0)
  const { url, child } = await place.serve({ env: { RATE_LIMITS: 'off' }, instances: 1 })
  target = { url, pid: child.pid ?? 0 }
  floor = await startFloor()
  await drive(floor, FLOOR_ASKS, CONNECTIONS, WARM_UP)
  const prompts = await samplePrompts(url, seededRandom(1))
  library = { url, key: '', prompts, queries: prompts.map(({ title }) => title) }
}, 120_000)
afterAll(async () => {
  await floor.stop()
  await place.remove()
})

it.each(MEASURED.flatMap((request) => (request.budget === undefined ? [] : [[request.name, request.budget, request] as const])))(
  '%s takes no more than three times its budget of %d times a bare server',
  async (_name, budget, request) => {
    const made = await request.makeAsks(library)
    const asks = await keepAnswered(target.url, request, made.slice(0, CONNECTIONS))
    await drive(target, asks, CONNECTIONS, WARM_UP)
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await drive(floor, FLOOR_ASKS, CONNECTIONS, REQUESTS)
      ratios.push((await drive(target, asks, CONNECTIONS, REQUESTS)).cpuMicroseconds / bare.cpuMicroseconds)
    }
    expect(median(ratios)).toBeLessThan(budget * MARGIN)
  },
)
