// Attacks the service from one address for a number of seconds, as one client within the reach of everybody.
// A process of its own, so that its work is not taken for slowness of the service; it ends with its time or with its parent.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { openClient, openDeafClient, type Route, requestBytes } from './raw-client.ts'

const orderSchema = z.object({
  attack: z.string(),
  host: z.string(),
  port: z.number(),
  from: z.string(),
  seconds: z.number(),
  /** A public prompt with a variable that has to be asked for. */
  askingPrompt: z.string(),
})
export type AttackOrder = z.infer<typeof orderSchema>

/** What an attack came to. `statuses` counts the answers it read. */
export interface AttackReport {
  readonly sent: number
  readonly opened: number
  readonly statuses: Readonly<Record<string, number>>
}

const JSON_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json' }
const STREAM_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
/** Refused clients come again after this long. */
const PAUSE_MS = 200
const UPLOAD_BYTES = 4 * 1024 * 1024

function message(id: number, method: string, params?: object) {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }
}

function post(body: unknown, headers: Record<string, string> = JSON_HEADERS): Buffer {
  return requestBytes('POST', '/api/mcp', { headers, body: JSON.stringify(body) })
}

const BATCH = 20
const LIST = message(1, 'resources/list')

function search(id: number) {
  return message(id, 'tools/call', { name: 'search_prompts', arguments: { query: `analysis report ${id}`, limit: 50 } })
}

/** The tools an attack works with: its time, and its account. */
interface Means extends Route {
  readonly askingPrompt: string
  isOver(): boolean
  /** Waits for the next of `perSecond` turns; every turn counts as a request sent. */
  turn(perSecond: number): Promise<void>
  open(): ReturnType<typeof openClient>
  openDeaf(bytes: Buffer): ReturnType<typeof openDeafClient>
  note(status: number): void
}

/** Some clients that each send the same request as soon as the last is answered. */
async function askInLoops(means: Means, clients: number, bytes: Buffer, options: { keepsConnection: boolean }): Promise<void> {
  const loop = async () => {
    let client = means.open()
    while (!means.isOver()) {
      await means.turn(400)
      const status = await client.ask(bytes).catch(() => 0)
      means.note(status)
      if (status !== 200 || !options.keepsConnection) {
        client.socket.destroy()
        if (status !== 200) await sleep(PAUSE_MS)
        client = means.open()
      }
    }
    client.socket.destroy()
  }
  await Promise.all(Array.from({ length: clients }, loop))
}

/** Opens a session that can be asked, and gives the bytes of calls that ask: each with an id of its own, as sessions demand. */
async function prepareQuestions(means: Means): Promise<() => Buffer> {
  const client = means.open()
  let head = ''
  client.socket.on('data', (bytes) => {
    head += bytes.toString('latin1')
  })
  const hello = message(0, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'attacker', version: '1' },
  })
  means.note(await client.ask(post(hello, STREAM_HEADERS)))
  client.socket.destroy()
  const session = /\r\nmcp-session-id: (\S+)/i.exec(head)?.[1]
  if (session === undefined) throw new Error('The service opened no session.')
  let id = 0
  return () => {
    const call = message(++id, 'tools/call', { name: 'get_prompt', arguments: { id: means.askingPrompt } })
    return post(call, { ...STREAM_HEADERS, 'Mcp-Session-Id': session })
  }
}

/** Most connections held open at once: far from the limit of descriptors. */
const MAX_HELD = 8_000

const ATTACKS: Readonly<Record<string, (means: Means) => Promise<void>>> = {
  async 'questions abandoned'(means) {
    const nextQuestion = await prepareQuestions(means)
    const leave = async () => {
      while (!means.isOver()) {
        await means.turn(1_000)
        const { socket } = means.open()
        socket.write(nextQuestion())
        const answer = await Promise.race([once(socket, 'data').catch(() => []), once(socket, 'close').catch(() => []), sleep(300, [])])
        const status = answer[0] instanceof Buffer ? Number(answer[0].toString('latin1', 9, 12)) : 0
        means.note(status)
        socket.destroy()
        if (status !== 200) await sleep(PAUSE_MS)
      }
    }
    await Promise.all(Array.from({ length: 64 }, leave))
  },

  async 'questions held open'(means) {
    const nextQuestion = await prepareQuestions(means)
    for (let held = 0; held < MAX_HELD && !means.isOver(); held++) {
      await means.turn(300)
      const { socket } = means.open()
      socket.once('data', (answer) => means.note(Number(answer.toString('latin1', 9, 12))))
      socket.write(nextQuestion())
    }
  },

  async 'unread batches of searches'(means) {
    const bytes = post(Array.from({ length: BATCH }, (_, id) => search(id)))
    for (let held = 0; held < MAX_HELD && !means.isOver(); held++) {
      await means.turn(10)
      means.openDeaf(bytes)
    }
  },

  async 'unread large answers'(means) {
    for (let held = 0; held < MAX_HELD && !means.isOver(); held++) {
      await means.turn(10)
      // One after the other on one connection: a single answer fits into the buffers of the kernel.
      const requests = Array.from({ length: 10 }, (_, place) => [
        post(search(held * 10 + place)),
        requestBytes('GET', `/api/prompts?q=analysis+report+${held * 10 + place}&perPage=100`),
      ])
      means.openDeaf(Buffer.concat(requests.flat()))
    }
  },

  'resources/list over 50 connections': (means) => askInLoops(means, 50, post(LIST), { keepsConnection: true }),

  'batches of resources/list over 50 connections': (means) =>
    askInLoops(means, 50, post(Array.from({ length: BATCH }, (_, id) => ({ ...LIST, id }))), { keepsConnection: true }),

  'resources/list over new connections': (means) =>
    askInLoops(means, 50, post(LIST, { ...JSON_HEADERS, Connection: 'close' }), { keepsConnection: false }),

  async '64 slow uploads'(means) {
    const head = requestBytes('POST', '/api/mcp', { headers: JSON_HEADERS, contentLength: UPLOAD_BYTES })
    const allButOne = Buffer.alloc(UPLOAD_BYTES - 1, ' ')
    const upload = async () => {
      while (!means.isOver()) {
        await means.turn(100)
        const { socket } = means.open()
        const answered = once(socket, 'data').catch(() => [])
        const closed = once(socket, 'close').catch(() => [])
        socket.write(head)
        socket.write(allButOne)
        const [answer] = await Promise.race([answered, closed])
        means.note(answer instanceof Buffer ? Number(answer.toString('latin1', 9, 12)) : 0)
        socket.destroy()
        await sleep(PAUSE_MS)
      }
    }
    await Promise.all(Array.from({ length: 64 }, upload))
  },
}

async function attack(order: AttackOrder): Promise<AttackReport> {
  const { host, port, from, seconds, askingPrompt } = order
  const play = ATTACKS[order.attack]
  if (!play) throw new Error(`There is no attack "${order.attack}".`)
  const route = { host, port, from }
  const started = performance.now()
  const endsAt = started + seconds * 1000
  const statuses: Record<string, number> = {}
  let sent = 0
  let opened = 0
  let next = started
  const held = new Set<Socket>()
  const hold = (socket: Socket) => {
    opened++
    held.add(socket.once('close', () => held.delete(socket)))
    return socket
  }
  const work = play({
    ...route,
    askingPrompt,
    isOver: () => performance.now() >= endsAt,
    async turn(perSecond) {
      sent++
      next = Math.max(next + 1000 / perSecond, performance.now() - 50)
      await sleep(Math.max(0, next - performance.now()))
    },
    open() {
      const client = openClient(route)
      hold(client.socket)
      return client
    },
    openDeaf: (bytes) => hold(openDeafClient(route, bytes)),
    note(status) {
      statuses[status] = (statuses[status] ?? 0) + 1
    },
  })
  await Promise.race([work.then(() => sleep(endsAt - performance.now())), sleep(endsAt - performance.now())])
  for (const socket of held) socket.destroy()
  return { sent, opened, statuses }
}

process.once('disconnect', () => process.exit(0))
process.once('message', async (order) => {
  const report = await attack(orderSchema.parse(order))
  process.send?.(report, () => process.exit(0))
})
