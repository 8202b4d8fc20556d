import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readResidentMiB } from '../../bench/processor-time.ts'
import type { Served } from '../support/processes.ts'
import { endService, makeWatchedLibrary, startDelays, startObserver, type WatchedLibrary } from './watched-service.ts'

/**
 * What one member with a key can do to everybody else at the default limits, for ATTACK_SECONDS: memory grows little, others save in the
 * meantime, and the service starts again. The other person is in a process of their own.
 */
const ATTACK_SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 15)
const AT_ONCE = 8
/** V8 gives memory back some ten seconds after it was busy. */
const SETTLES_MS = 20_000
const MAX_GROWTH_MIB = 64
const MAX_RESTART_MS = 5_000
const MAX_SAVE_MS = 500

let words = 0
/** One that was never used; the factor puts those that come one after the other far apart. */
const word = () => `q${(Math.imul(++words, 2_654_435_761) >>> 0).toString(36)}z${words.toString(36)}`
const uniqueText = (count: number) => Array.from({ length: count }, word).join(' ')
const prompts = (count: number, make: () => object) => ({ prompts: Array.from({ length: count }, () => ({ title: word(), ...make() })) })
const skillMd = () => ({ filename: 'SKILL.md', content: `---\nname: a-${word()}\ndescription: ${word()}\n---\n${word()}` })
const note = () => ({ filename: `${word()}.md`, content: uniqueText(20) })

const ATTACKS: readonly (readonly [name: string, method: 'POST' | 'PATCH', path: string, body: () => object])[] = [
  ['unique words', 'POST', '/api/prompts/batch', () => prompts(40, () => ({ content: uniqueText(4000) }))],
  ['edits with unique words', 'PATCH', '/api/prompts/ID', () => ({ content: uniqueText(8000) })],
  ['unique tags', 'POST', '/api/prompts/batch', () => prompts(100, () => ({ content: 'x', tags: Array.from({ length: 10 }, word) }))],
  ['skills of 512 files', 'POST', '/api/skills', () => ({ title: word(), files: [skillMd(), ...Array.from({ length: 511 }, note)] })],
  ['batches of 500', 'POST', '/api/prompts/batch', () => prompts(500, () => ({ content: uniqueText(50) }))],
]

let library: WatchedLibrary
let badKey: string
beforeAll(async () => {
  library = await makeWatchedLibrary()
  const { commonplace } = library.place
  await commonplace(['users', 'create', 'mallory'])
  badKey = (await commonplace(['keys', 'create', '--user', 'mallory', '--name', 'k'])).stdout.trim()
}, 120_000)
afterAll(() => library.place.remove())

describe.each(ATTACKS)('%s', (_, method, path, makeBody) => {
  it(
    'costs others little',
    async () => {
      const served = await library.place.serve()
      const send = (how: string, to: string, body: object) => ask(served, how, to, badKey, body)
      const search = async () => (await ask(served, 'GET', '/api/prompts?q=letter', library.key)).status
      const { hostname: host, port } = new URL(served.url)
      const delays = startDelays(served, 25)
      const observer = startObserver({ host, port: Number(port) }, library, { probes: ['save'], everyMs: 100 })
      await warmUp(served)
      const made = await send('POST', '/api/prompts', { title: 'Mine', content: 'text' })
      const to = path.replace('ID', /"id":"([^"]+)"/.exec(made.text)?.[1] ?? '')
      await pause(SETTLES_MS)
      const before = readResidentMiB(served.child.pid ?? 0).now
      const from = Date.now()
      const until = from + ATTACK_SECONDS * 1000
      const statuses = new Map<number, number>()
      const attack = async () => {
        while (Date.now() < until) {
          // A body that is refused before it was read ends its connection.
          const { status } = await send(method, to, makeBody()).catch(() => ({ status: 0 }))
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status === 429 || status === 0) await pause(50)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, attack))
      const probes = delays.probesWithin(observer.probes, from, Date.now())
      await observer.stop()
      await pause(SETTLES_MS)
      const found = await search()
      const { now, peak } = readResidentMiB(served.child.pid ?? 0)
      delays.stop()
      await endService(served)
      const restartMs = await measureStart()
      const p95 = probes.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(probes.length * 0.95)] ?? Number.NaN
      const said = { before, now, peak, p95, saves: probes.length, restartMs, statuses: Object.fromEntries(statuses) }
      process.stderr.write(`${JSON.stringify(said)}\n`)
      expect(found).toBe(200)
      expect(probes.map(({ fault }) => fault).filter(Boolean)).toEqual([])
      expect(now - before).toBeLessThan(MAX_GROWTH_MIB)
      expect(p95).toBeLessThan(MAX_SAVE_MS)
      expect(restartMs).toBeLessThan(MAX_RESTART_MS)
    },
    ATTACK_SECONDS * 1000 + 120_000,
  )
})

/** Asks over a connection of its own, as a program without a pool does. */
async function ask({ url }: Served, method: string, path: string, key: string, body?: object): Promise<{ status: number; text: string }> {
  const sent = request(new URL(path, url), { method, agent: false, headers: { 'x-api-key': key, 'content-type': 'application/json' } })
  sent.end(body && JSON.stringify(body))
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of answer ?? []) chunks.push(chunk)
  return { status: answer?.statusCode ?? 0, text: Buffer.concat(chunks).toString() }
}

/** Uses a service as people do, so that what it needs for that is in its memory. */
async function warmUp(served: Served): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const batch = { prompts: Array.from({ length: 25 }, (_, place) => ({ title: `Letter ${place}`, content: 'Write a letter.' })) }
    await Promise.all([
      ask(served, 'POST', '/api/prompts/batch', library.key, batch),
      ask(served, 'GET', `/api/prompts?q=letter+${round}`, library.key),
      ask(served, 'GET', `/?q=letter+${round}`, library.key),
    ])
  }
}

/** Milliseconds from a start until the service is ready. */
async function measureStart(): Promise<number> {
  const startedAt = performance.now()
  const served: Served = await library.place.serve()
  while ((await ask(served, 'GET', '/readyz', library.key)).status !== 200) await pause(20)
  const ms = performance.now() - startedAt
  await endService(served)
  return ms
}
