// Asks the service as an ordinary client, from an address and a process of its own, and reports how long each answer took.
// Any further message ends it once the answers to its last questions are in; so does the end of its parent.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

const orderSchema = z.object({
  host: z.string(),
  port: z.number(),
  from: z.string(),
  /** Of a user that may save. */
  key: z.string(),
  /** A public prompt. */
  prompt: z.string(),
  probes: z.array(z.enum(['healthz', 'search', 'get_prompt', 'save'])),
  /** From one round of probes to the next. */
  everyMs: z.number(),
})
export type ObserverOrder = z.infer<typeof orderSchema>
type Kind = ObserverOrder['probes'][number]

/** One answer, or what came instead. */
export interface Probe {
  readonly kind: Kind
  readonly isNewConnection: boolean
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly ms: number
  /** Null when the answer was 2xx. */
  readonly fault: string | null
}

const TIMEOUT_MS = 20_000
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

let count = 0
function toAsk(kind: Kind, { key, prompt }: ObserverOrder) {
  count++
  if (kind === 'healthz') return { method: 'GET', path: '/healthz', headers: {} }
  if (kind === 'search') return { method: 'GET', path: `/api/prompts?q=write+story+${count}`, headers: { accept: 'application/json' } }
  if (kind === 'get_prompt') {
    const call = { jsonrpc: '2.0', id: count, method: 'tools/call', params: { name: 'get_prompt', arguments: { id: prompt } } }
    return { method: 'POST', path: '/api/mcp', headers: JSON_HEADERS, body: JSON.stringify(call) }
  }
  const body = JSON.stringify({ title: `Observed ${count}`, content: 'A prompt that somebody saves meanwhile.' })
  return { method: 'POST', path: '/api/prompts', headers: { ...JSON_HEADERS, 'x-api-key': key }, body }
}

/** Asks once and reads the whole answer. */
function ask(kind: Kind, order: ObserverOrder, agent: Agent | false): Promise<Probe> {
  const { method, path, headers, body } = toAsk(kind, order)
  const startedAt = Date.now()
  const started = performance.now()
  return new Promise((resolve) => {
    const end = (fault: string | null) =>
      resolve({ kind, isNewConnection: agent === false, startedAt, ms: performance.now() - started, fault })
    const { host, port, from: localAddress } = order
    const sent = request({ host, port, localAddress, method, path, headers, agent, signal: AbortSignal.timeout(TIMEOUT_MS) }, (answer) => {
      const { statusCode = 0 } = answer
      answer.on('end', () => end(statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`))
      answer.on('error', (error) => end(error.message))
      answer.resume()
    })
    sent.on('error', (error) => end(error.message))
    sent.end(body)
  })
}

/** Probes until it is told to stop, and the last answers are in. */
async function observe(order: ObserverOrder, isOver: () => boolean): Promise<void> {
  const probe = async (kind: Kind, isNewConnection: (round: number) => boolean) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let round = 0; !isOver(); round++) {
      const started = performance.now()
      const result = await ask(kind, order, isNewConnection(round) ? false : agent)
      process.send?.(result)
      await sleep(Math.max(0, order.everyMs - (performance.now() - started)))
    }
    agent.destroy()
  }
  await Promise.all(
    order.probes.flatMap((kind) =>
      kind === 'healthz' ? [probe(kind, () => true), probe(kind, () => false)] : [probe(kind, (round) => round % 2 === 0)],
    ),
  )
}

let isOver = false
process.once('disconnect', () => process.exit(0))
process.once('message', async (order) => {
  process.once('message', () => {
    isOver = true
  })
  await observe(orderSchema.parse(order), () => isOver)
  process.disconnect()
})
