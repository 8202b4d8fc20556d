// Whether what was acknowledged stays saved, and how fast saves are, with many writers at once: the built service over HTTP, killed twice meanwhile
// (SIGKILL) and started again, and on PostgreSQL the database server too (stopped at once, as by a crash), which keeps its files as it does by default.
//   npm run bench:writers [-- --seconds 60] [--writers 100] [--engine sqlite|postgresql] [--no-kill]
// Ends with 1 when a save that was acknowledged is not there as it was, or an answer was 500.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { findFreePort, type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import { createPlace, type Place, type Served } from '../test/support/processes.ts'
import { type Acknowledged, digestOf, findLost } from './acknowledged-saves.ts'
import { seededRandom } from './recombined-prompts.ts'

const ENGINES = ['sqlite', 'postgresql']
const SEED = 20_261_121
/** People whose keys the writers share: those of one person edit each other's prompts. */
const PEOPLE = 4
/** Shares of saves that are new prompts, and that edit one that others edit too; the rest edits the writer's own. */
const NEW_SHARE = 0.3
const SHARED_SHARE = 0.2
const PATIENCE_MS = 30_000
const savedShape = z.object({ prompt: z.object({ id: z.string() }), version: z.int().optional() })

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
    const ledger = {
      saves: [] as Acknowledged[],
      times: [] as number[],
      at: [] as number[],
      refused: new Map<string, number>(),
      faults: [] as string[],
    }
    const until = performance.now() + seconds * 1000
    const random = seededRandom(SEED)
    const pools = keys.map(() => [] as string[])
    const breaking = values.kill ? breakThings(serve, first, server) : Promise.resolve()
    await Promise.all([
      breaking,
      ...Array.from({ length: writers }, (_, writer) => {
        const person = writer % keys.length
        return write(first.url, { writer, key: keys[person] ?? '', pool: pools[person] ?? [], until, random }, ledger)
      }),
    ])
    const { lost, told } = await findLost(first.url, ledger.saves)
    const sorted = ledger.times.toSorted((a, b) => a - b)
    const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1)
    const pause = ledger.at.reduce((longest, when, index) => Math.max(longest, when - (ledger.at[index - 1] ?? when)), 0)
    const refused = [...ledger.refused].map(([what, count]) => `${count} ${what}`).join(', ')
    say(
      `${engine}: ${writers} writers, ${seconds} s${values.kill ? `, the service killed twice${server ? ', the database server once' : ''}` : ''}`,
    )
    say(
      `  ${ledger.saves.length} saves acknowledged of ${new Set(ledger.saves.map(({ id }) => id)).size} prompts, ${(ledger.saves.length / seconds).toFixed(0)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
    )
    say(`  longest stretch without any: ${(pause / 1000).toFixed(1)} s`)
    say(`  not acknowledged: ${refused || 'none'}`)
    say(`  lost: ${lost}`)
    for (const line of [...told, ...ledger.faults]) say(`  ${line}`)
    if (lost > 0 || ledger.faults.length > 0 || ledger.saves.length === 0) process.exitCode = 1
  } finally {
    await place.remove()
    await server?.stop()
  }
}

async function makeKeys(place: Place, env: Record<string, string>): Promise<string[]> {
  const keys: string[] = []
  for (let person = 0; person < PEOPLE; person++) {
    for (const args of [
      ['users', 'create', `writer-${person}`],
      ['keys', 'create', '--user', `writer-${person}`, '--name', 'bench'],
    ]) {
      const { code, stdout, stderr } = await place.commonplace(args, { env })
      if (code !== 0) throw new Error(stderr)
      if (stdout.startsWith('cpb_')) keys.push(stdout.trim())
    }
  }
  return keys
}

/** Kills the service after a quarter and a half of the time, and the database server after three quarters. */
async function breakThings(serve: () => Promise<Served>, first: Served, server: PostgresServer | null): Promise<void> {
  let { child } = first
  for (let kill = 0; kill < 2; kill++) {
    await sleep(seconds * 250)
    child.kill('SIGKILL')
    await once(child, 'exit')
    child = (await serve()).child
  }
  await sleep(seconds * 250)
  await server?.restart()
}

interface Ledger {
  readonly saves: Acknowledged[]
  readonly times: number[]
  /** When each was acknowledged, in milliseconds. */
  readonly at: number[]
  /** What came instead of an acknowledgement, and how often. */
  readonly refused: Map<string, number>
  /** Answers that should never be. */
  readonly faults: string[]
}

/** One writer: saves, and notes what was acknowledged, until the time is over. */
async function write(
  url: string,
  { writer, key, pool, until, random }: { writer: number; key: string; pool: string[]; until: number; random: () => number },
  ledger: Ledger,
): Promise<void> {
  const own: string[] = []
  // A connection of its own: a pool that writers share would serve some of them late.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]
  for (let count = 0; performance.now() < until; count++) {
    const chance = random()
    const id = chance < NEW_SHARE ? undefined : pick(chance < NEW_SHARE + SHARED_SHARE ? pool : own)
    // Each is told from all others, and some are long.
    const content = `Writer ${writer}, save ${count}: ${'what was acknowledged must stay. '.repeat(1 + Math.floor(random() ** 4 * 200))}`
    const started = performance.now()
    let outcome: string
    try {
      const body = JSON.stringify({ content, ...(id === undefined ? { title: `Of writer ${writer}, ${count}` } : {}) })
      const [method, path] = id === undefined ? (['POST', '/api/prompts'] as const) : (['PATCH', `/api/prompts/${id}`] as const)
      const { status, text } = await send(new URL(path, url), { method, headers, agent }, body)
      if (status >= 200 && status < 300) {
        const saved = savedShape.parse(JSON.parse(text))
        ledger.saves.push({ id: saved.prompt.id, version: saved.version ?? 1, digest: digestOf(content), key })
        ledger.at.push(performance.now())
        ledger.times.push(performance.now() - started)
        if (id === undefined) (count % 2 === 0 ? own : pool).push(saved.prompt.id)
        continue
      }
      outcome = `× ${status}`
      if (status !== 503) ledger.faults.push(`${status}: ${text.slice(0, 300)}`)
    } catch (error) {
      outcome = error instanceof Error && /Timeout|Abort/.test(error.name) ? '× no answer in time' : '× connection broken or refused'
    }
    ledger.refused.set(outcome, (ledger.refused.get(outcome) ?? 0) + 1)
    await sleep(50 + random() * 100)
  }
}

/** Sends one request and reads its answer. @throws Error when there is none, or not in time */
async function send(
  url: URL,
  options: { method: string; headers: Record<string, string>; agent: Agent },
  body: string,
): Promise<{ status: number; text: string }> {
  const sent = request(url, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) })
  sent.end(body)
  const answered = new Promise<IncomingMessage>((resolve, reject) => sent.once('response', resolve).once('error', reject))
  const answer = await answered
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  return { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }
}
