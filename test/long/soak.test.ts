import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Ask, drive, type Target } from '../../bench/drive.ts'
import { keepAnswered, MEASURED, samplePrompts } from '../../bench/measured-requests.ts'
import { readResidentMiB } from '../../bench/processor-time.ts'
import { seededRandom } from '../../bench/recombined-prompts.ts'
import { createPlace } from '../support/processes.ts'
import { findTestData } from '../support/real-data.ts'

/** All kinds of requests in turn, for as long as ATTACK_SECONDS says: memory that still grows in the second half is a leak. */
const SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 15)
const CONNECTIONS = 16
/** Requests of a kind in one turn. */
const AMOUNT = 320
/** Growth over the second half that collections of garbage explain. */
const MAX_GROWTH_MIB = 40

const place = createPlace()
afterAll(() => place.remove())
let target: Target
let library: Parameters<(typeof MEASURED)[number]['makeAsks']>[0]

beforeAll(async () => {
  const { code, stderr } = await place.commonplace(['import', 'prompts', findTestData().promptsFile, '--user', 'soak', '--public'])
  expect(code, stderr).toBe(0)
  const key = (await place.commonplace(['keys', 'create', '--user', 'soak', '--name', 'soak'])).stdout.trim()
  const { url, child } = await place.serve({ env: { RATE_LIMITS: 'off', IMPROVE_DAILY_REQUESTS: 'off' }, instances: 1 })
  target = { url, pid: child.pid ?? 0 }
  const prompts = await samplePrompts(url, seededRandom(1))
  library = { url, key, prompts, queries: prompts.map(({ title }) => title) }
}, 120_000)

it(
  'takes no more memory in the end than half-way',
  async () => {
    const kinds: Ask[][] = []
    for (const request of MEASURED) {
      kinds.push(await keepAnswered(target.url, request, (await request.makeAsks(library)).slice(0, 64)))
    }
    const run = async (seconds: number) => {
      const until = performance.now() + seconds * 1000
      let answered = 0
      do {
        for (const asks of kinds) {
          await drive(target, asks, CONNECTIONS, AMOUNT)
          answered += AMOUNT
        }
      } while (performance.now() < until)
      return answered
    }
    // Once through everything, so that what is loaded at first use is there.
    let answered = await run(SECONDS / 2)
    const halfway = readResidentMiB(target.pid).now
    answered += await run(SECONDS / 2)
    const end = readResidentMiB(target.pid).now
    process.stderr.write(`soak: ${answered} requests, ${halfway.toFixed(0)} MiB half-way, ${end.toFixed(0)} MiB in the end\n`)
    expect(end - halfway).toBeLessThan(MAX_GROWTH_MIB)
  },
  (SECONDS + 300) * 1000,
)
