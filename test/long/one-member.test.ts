import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readResidentMiB } from '../../bench/processor-time.ts'
import { endService, makeWatchedLibrary, type WatchedLibrary } from './watched-service.ts'

/**
 * What one member with a key can do to everybody else at the default limits, for ATTACK_SECONDS: memory grows little, others save in the
 * meantime, and the service starts again.
 */
const ATTACK_SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 15)
const AT_ONCE = 8
const SETTLES_MS = 5_000
const MAX_GROWTH_MIB = 64
const MAX_RESTART_MS = 5_000
const MAX_SAVE_MS = 500
/** Between two saves of the other person. */
const EVERY_MS = 250

const word = () => randomBytes(9).toString('hex')
const uniqueText = (words: number) => Array.from({ length: words }, word).join(' ')
const skillMd = () => ({ filename: 'SKILL.md', content: `---\nname: a-${word()}\ndescription: ${word()}\n---\n${word()}` })

type Body = Readonly<Record<string, unknown>>
const ATTACKS: readonly (readonly [name: string, method: 'POST' | 'PATCH', path: string, body: () => Body])[] = [
  [
    'unique words',
    'POST',
    '/api/prompts/batch',
    () => ({ prompts: Array.from({ length: 40 }, () => ({ title: word(), content: uniqueText(4000) })) }),
  ],
  ['edits with unique words', 'PATCH', '/api/prompts/ID', () => ({ content: uniqueText(8000) })],
  [
    'unique tags',
    'POST',
    '/api/prompts/batch',
    () => ({ prompts: Array.from({ length: 100 }, () => ({ title: word(), content: 'x', tags: Array.from({ length: 10 }, word) })) }),
  ],
  [
    'skills of 512 files',
    'POST',
    '/api/skills',
    () => ({
      title: word(),
      files: [skillMd(), ...Array.from({ length: 511 }, () => ({ filename: `${word()}.md`, content: uniqueText(20) }))],
    }),
  ],
  [
    'batches of 500',
    'POST',
    '/api/prompts/batch',
    () => ({ prompts: Array.from({ length: 500 }, () => ({ title: word(), content: uniqueText(50) })) }),
  ],
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
      let served = await library.place.serve({ instances: 1 })
      const send = async (key: string, how: string, to: string, body: Body) => {
        const headers = { 'x-api-key': key, 'content-type': 'application/json' }
        const response = await fetch(new URL(to, served.url), { method: how, headers, body: JSON.stringify(body) })
        return { status: response.status, text: await response.text() }
      }
      const save = async () => {
        const startedMs = performance.now()
        const { status } = await send(library.key, 'POST', '/api/prompts', { title: 'Of another', content: 'A text like others.' })
        expect(status).toBe(201)
        return performance.now() - startedMs
      }
      await fetch(new URL('/api/search?q=letter', served.url))
      for (let i = 0; i < 20; i++) await save()
      const made = await send(badKey, 'POST', '/api/prompts', { title: 'Mine', content: 'text' })
      const to = path.replace('ID', /"id":"([^"]+)"/.exec(made.text)?.[1] ?? '')
      const pid = served.child.pid ?? 0
      const before = readResidentMiB(pid).now
      const until = performance.now() + ATTACK_SECONDS * 1000
      const statuses = new Map<number, number>()
      const attack = async () => {
        while (performance.now() < until) {
          const { status } = await send(badKey, method, to, makeBody())
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status === 429) await pause(100)
        }
      }
      const saves: number[] = []
      const watch = async () => {
        for (; performance.now() < until; await pause(EVERY_MS)) saves.push(await save())
      }
      await Promise.all([watch(), ...Array.from({ length: AT_ONCE }, attack)])
      await pause(SETTLES_MS)
      const found = await fetch(new URL('/api/search?q=letter', served.url))
      const { now, peak } = readResidentMiB(pid)
      await endService(served)
      const startedMs = performance.now()
      served = await library.place.serve({ instances: 1 })
      const isReady = async () => (await fetch(new URL('/readyz', served.url))).status === 200
      while (!(await isReady())) await pause(20)
      const restartMs = performance.now() - startedMs
      await endService(served)
      const p95 = saves.toSorted((a, b) => a - b)[Math.floor(saves.length * 0.95)] ?? 0
      const said = {
        before,
        now,
        peak,
        p95,
        saves: saves.length,
        restartMs,
        statuses: Object.fromEntries(statuses),
      }
      process.stderr.write(`${JSON.stringify(said)}\n`)
      expect(found.status).toBe(200)
      expect(now - before).toBeLessThan(MAX_GROWTH_MIB)
      expect(p95).toBeLessThan(MAX_SAVE_MS)
      expect(restartMs).toBeLessThan(MAX_RESTART_MS)
    },
    ATTACK_SECONDS * 1000 + 120_000,
  )
})
