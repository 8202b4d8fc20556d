// How long searches never asked before take at a fixed rate of arrivals, whether or not earlier ones were answered (an open loop), against the
// served program with the encoder on; and what the process weighs.
//   npm run bench:open-loop -- --keep FOLDER [--sizes 1257,100000] [--rate 10] [--seconds 60] [--prompts FILE.csv] [--queries FILE.tsv]
// Libraries and vectors are made in the folder, or used when they are there already; see encoded-library.ts. Arrivals are a seeded Poisson process.
// A time begins when the request was due, so that a late client counts against the service.
import { mkdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createPlace } from '../test/support/processes.ts'
import { findTestData } from '../test/support/real-data.ts'
import { callTool } from './asks.ts'
import { type Ask, saysError } from './drive.ts'
import { libraryPath, makeEncodedLibrary } from './encoded-library.ts'
import { samplePrompts } from './measured-requests.ts'
import { recombineQueries } from './other-forms.ts'
import { ENCODER_THREAD, readProcessorTime, readResidentMiB, readRunDelayMs } from './processor-time.ts'
import { readQueries } from './queries.ts'
import { seededRandom } from './recombined-prompts.ts'

const SEED = 20_261_124
/** Requests before those that count: the first are slow until they are compiled. */
const WARM_UP = 100

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1257,100000' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
    prompts: { type: 'string' },
    queries: { type: 'string' },
    keep: { type: 'string' },
  },
})
const [rate, seconds] = [Number(values.rate), Number(values.seconds)]
if (!(rate > 0 && seconds > 0)) throw new Error('--rate and --seconds take numbers above zero.')
const promptsFile = values.prompts ?? findTestData().promptsFile
const say = (line: string) => process.stdout.write(`${line}\n`)
const place = createPlace()
const agent = new Agent({ keepAlive: true })

try {
  const folder = values.keep ?? place.folder
  mkdirSync(folder, { recursive: true })
  for (const size of values.sizes.split(',').map(Number)) {
    await makeEncodedLibrary(place, folder, promptsFile, size)
    await measure(size, libraryPath(folder, size))
  }
} finally {
  agent.destroy()
  await place.remove()
}

async function measure(size: number, path: string): Promise<void> {
  const started = performance.now()
  const { url, child } = await place.serve({ env: { DATABASE_URL: `sqlite:${path}`, RATE_LIMITS: 'off', ENCODER: 'on' }, instances: 1 })
  const pid = child.pid ?? 0
  await send(url, callTool(0, 'search_prompts', { query: 'writer', limit: 10 }))
  const firstAnswerMs = performance.now() - started
  const afterFirst = readResidentMiB(pid).now
  await waitUntilReady(url)
  const random = seededRandom(SEED)
  const prompts = await samplePrompts(url, random)
  const nextQuery = recombineQueries({ prompts, queries: await readQueries(promptsFile, values.queries) })
  const nextAsk = (id: number) => callTool(id, 'search_prompts', { query: nextQuery(), limit: 10 })
  for (let id = 0; id < WARM_UP; id++) await send(url, nextAsk(id))
  const readCounters = () => ({
    cpu: readProcessorTime(pid),
    encoder: readProcessorTime(pid, ENCODER_THREAD),
    delayMs: readRunDelayMs(pid),
  })
  const before = readCounters()
  const times = await arrive(url, nextAsk, random)
  const after = readCounters()
  const { now, peak } = readResidentMiB(pid)
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  times.sort((a, b) => a - b)
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN).toFixed(1)
  const each = (total: number) => (total / 1000 / times.length).toFixed(2)
  const mib = (value: number) => `${value.toFixed(0)} MiB`
  say(`${size} prompts, ${rate} arrivals a second for ${seconds} s, ${times.length} searches never asked before:`)
  say(`  p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`)
  say(`  processor: ${each(after.cpu - before.cpu)} ms each, of which in the encoder's thread ${each(after.encoder - before.encoder)} ms`)
  say(`  main thread ready to run and without a core: ${((after.delayMs - before.delayMs) / times.length).toFixed(2)} ms a search`)
  say(
    `  first answer ${firstAnswerMs.toFixed(0)} ms after the start; resident: ${mib(afterFirst)} after it, ${mib(now)} in the end, ${mib(peak)} at most`,
  )
}

/** Sends requests when they are due. Returns what each took, in milliseconds since it was due. */
async function arrive(url: string, nextAsk: (id: number) => Ask, random: () => number): Promise<number[]> {
  const pending: Promise<number>[] = []
  const started = performance.now()
  for (let dueMs = 0, id = WARM_UP; ; id++) {
    dueMs += (-Math.log(1 - random()) * 1000) / rate
    if (dueMs > seconds * 1000) return await Promise.all(pending)
    const due = started + dueMs
    const ask = nextAsk(id)
    await sleep(Math.max(0, due - performance.now()))
    pending.push(send(url, ask).then(() => performance.now() - due))
  }
}

/** @throws Error when the answer is no result */
async function send(url: string, { method, path, headers, body = '' }: Ask): Promise<void> {
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(url + path, { agent, method, headers: { ...headers, 'content-length': Buffer.byteLength(body) } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
  if (saysError(text) || !text.includes('"count":')) throw new Error(`A search was not answered: ${body}: ${text.slice(0, 300)}`)
}

/** Until the encoder has read its weights and no item waits for a vector. @throws Error after a minute */
async function waitUntilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    const answer = await (await fetch(`${url}/readyz`)).text()
    if (answer.includes('"encoder":"ready"')) return
    await sleep(250)
  }
  throw new Error('The encoder did not become ready.')
}
