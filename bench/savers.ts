import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Place } from '../test/support/processes.ts'
import { type Acknowledged, digestOf, REFUSED_TITLE } from './acknowledged-saves.ts'

/** People whose keys the writers share: those of one person edit each other's prompts. */
const PEOPLE = 4
/** Shares of saves that are new prompts, and that edit one that others edit too; the rest edits the writer's own. */
const NEW_SHARE = 0.3
const SHARED_SHARE = 0.2
/** Share of new prompts that must be refused, among those that are saved at the same moment. */
const BAD_SHARE = 0.1
const PATIENCE_MS = 30_000
const savedShape = z.object({ prompt: z.object({ id: z.string() }), version: z.int().optional() })

/** Makes a few people, and a key for each. */
export async function makeKeys(place: Place, env: Record<string, string>): Promise<string[]> {
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

/** What came of the saves of some writers. */
export interface Ledger {
  readonly saves: Acknowledged[]
  readonly times: number[]
  /** When each was acknowledged, in milliseconds. */
  readonly at: number[]
  /** What came instead of an acknowledgement, and how often. */
  readonly refused: Map<string, number>
  /** How many prompts were refused that had to be. */
  wellRefused: number
  /** Answers that should never be. */
  readonly faults: string[]
}

export function openLedger(): Ledger {
  return { saves: [], times: [], at: [], refused: new Map(), wellRefused: 0, faults: [] }
}

/** Who saves, and for how long. */
export interface Writer {
  /** Told from the others by its number. */
  readonly writer: number
  readonly key: string
  /** Prompts that the writers of one person share. */
  readonly pool: string[]
  readonly random: () => number
  isOver(): boolean
  /** Between two saves, in milliseconds. Default: 0. */
  readonly waitMs?: number
}

/** One writer: saves, and notes what was acknowledged, until the time is over. */
export async function write(url: string, { writer, key, pool, isOver, random, waitMs = 0 }: Writer, ledger: Ledger): Promise<void> {
  const own: string[] = []
  // A connection of its own: a pool that writers share would serve some of them late.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]
  for (let count = 0; !isOver(); count++) {
    if (waitMs > 0) await sleep(waitMs)
    const chance = random()
    const id = chance < NEW_SHARE ? undefined : pick(chance < NEW_SHARE + SHARED_SHARE ? pool : own)
    // Each is told from all others, and some are long.
    const content = `Writer ${writer}, save ${count}: ${'what was acknowledged must stay. '.repeat(1 + Math.floor(random() ** 4 * 200))}`
    const isBad = id === undefined && random() < BAD_SHARE
    const started = performance.now()
    let outcome: string
    try {
      const fields = isBad
        ? { title: `${REFUSED_TITLE} ${writer}, ${count}`, category: 'none-of-the-valid' }
        : id === undefined
          ? { title: `Of writer ${writer}, ${count}` }
          : {}
      const body = JSON.stringify({ content, ...fields })
      const [method, path] = id === undefined ? (['POST', '/api/prompts'] as const) : (['PATCH', `/api/prompts/${id}`] as const)
      const { status, text } = await send(new URL(path, url), { method, headers, agent }, body)
      if (isBad && status === 400) {
        ledger.wellRefused++
        continue
      }
      if (!isBad && status >= 200 && status < 300) {
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
