import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readResidentMiB } from '../../bench/processor-time.ts'
import type { AttackReport } from './attacker.ts'
import type { Probe } from './observer.ts'
import {
  attack,
  endService,
  type FairProbe,
  makeWatchedLibrary,
  serveWatched,
  startDelays,
  startObserver,
  type WatchedLibrary,
} from './watched-service.ts'

/**
 * What one client without a key can do to everybody else at the default limits. Each attack goes on for ATTACK_SECONDS (15), while an observer
 * from another address asks for what people ask. Attacker, observer and service are processes of their own. From the time of an answer goes the
 * time in which the service was ready to run and the machine, busy with other programs, had no core for it.
 */
const ATTACK_SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 15)
const WARM_UP_MS = 4_000
const MAX_GROWTH_MIB = 150
const SETTLES_WITHIN_MS = 30_000
/** Memory that grows by less within `STEADY_MS` has settled. */
const STEADY_MIB = 5
const STEADY_MS = 5_000
const MAX_ANSWER_MS = 1_000
const MAX_HEALTHZ_MS = 250
/** The sample of `.ci/run` makes half of the attacks, and holds no waits to their limits: it runs beside whatever the machine does. */
const isSample = process.env['IS_SAMPLE'] === 'true'

/** The attacks, and the least that an attacker sends in a second when it is not kept from it. */
const ATTACKS: readonly (readonly [name: string, minSentPerSecond: number])[] = [
  ['questions abandoned', 20],
  ['questions held open', 20],
  ['unread batches of searches', 2],
  ['unread large answers', 2],
  ['resources/list over 50 connections', 3],
  ['batches of resources/list over 50 connections', 3],
  ['resources/list over new connections', 3],
  ['64 slow uploads', 3],
]

interface Outcome {
  readonly report: AttackReport
  readonly levelMiB: number
  readonly peakMiB: number
  readonly hasSettled: boolean
  /** How the process ended, if it did. */
  readonly death: string | null
  /** What the observer saw while the attack went on. */
  readonly probes: readonly FairProbe[]
}

let library: WatchedLibrary
beforeAll(async () => {
  library = await makeWatchedLibrary()
}, 120_000)
afterAll(() => library.place.remove())

describe.each(ATTACKS.filter((_, place) => !isSample || place % 2 === 0))('%s', (name, minSentPerSecond) => {
  let outcome: Outcome
  beforeAll(
    async () => {
      outcome = await suffer(name)
      process.stderr.write(`${name}: ${describeOutcome(outcome)}\n`)
    },
    (ATTACK_SECONDS + 120) * 1000,
  )

  it('was an attack', () => {
    expect(outcome.report.sent).toBeGreaterThan(ATTACK_SECONDS * minSentPerSecond)
    for (const kind of ['healthz', 'search', 'get_prompt', 'save']) {
      expect(outcome.probes.filter((probe) => probe.kind === kind).length, kind).toBeGreaterThan(0)
    }
  })
  it('leaves the process alive', () => {
    expect(outcome.death).toBeNull()
  })
  it(`makes it grow by at most ${MAX_GROWTH_MIB} MiB`, () => {
    expect(outcome.peakMiB - outcome.levelMiB).toBeLessThan(MAX_GROWTH_MIB)
  })
  it(`lets its memory settle within ${SETTLES_WITHIN_MS / 1000} s`, () => {
    expect(outcome.hasSettled).toBe(true)
  })
  it('makes no request of others fail', () => {
    const faults = outcome.probes.flatMap(({ kind, fault }) => (fault === null ? [] : [`${kind}: ${fault}`]))
    expect([...new Set(faults)]).toEqual([])
  })
  it.skipIf(isSample)(`makes nobody else wait longer than ${MAX_ANSWER_MS} ms`, () => {
    expect(slowest(outcome.probes)?.ms).toBeLessThan(MAX_ANSWER_MS)
  })
  it.skipIf(isSample)(`has /healthz answered within ${MAX_HEALTHZ_MS} ms`, () => {
    expect(slowest(outcome.probes.filter(({ kind }) => kind === 'healthz'))?.ms).toBeLessThan(MAX_HEALTHZ_MS)
  })
})

/** Starts the service, attacks it, and says what came of it. */
async function suffer(name: string): Promise<Outcome> {
  const served = await serveWatched(library)
  const { child } = served
  const observer = startObserver(served, library, { probes: ['healthz', 'search', 'get_prompt', 'save'], everyMs: 200 })
  /** Resident memory; the last that was seen of a process that is gone. */
  let residentMiB = 0
  const delays = startDelays(served, 25)
  const read = () => {
    if (child.exitCode !== null || child.signalCode !== null) return residentMiB
    residentMiB = readResidentMiB(child.pid ?? 0).now
    return residentMiB
  }
  try {
    await warmUp(served.url)
    const levelMiB = read()
    let peakMiB = levelMiB
    const sampler = setInterval(() => {
      peakMiB = Math.max(peakMiB, read())
    }, 25)
    const from = Date.now()
    const report = await attack(served, name, ATTACK_SECONDS, library)
    const to = Date.now()
    const hasSettled = await settles(read)
    clearInterval(sampler)
    await observer.stop()
    const death = child.signalCode ?? (child.exitCode === null ? null : `exit status ${child.exitCode}`)
    return { report, levelMiB, peakMiB, hasSettled, death, probes: delays.probesWithin(observer.probes, from, to) }
  } finally {
    delays.stop()
    await observer.stop()
    await endService(served)
  }
}

/** Asks for what the attacks ask for, and reads the answers, until the heap has the size of a service at work. */
async function warmUp(url: string): Promise<void> {
  const until = performance.now() + WARM_UP_MS
  const calls = [
    { method: 'resources/list' },
    { method: 'tools/call', params: { name: 'search_prompts', arguments: { query: 'analysis report', limit: 50 } } },
    { method: 'prompts/list' },
  ]
  for (let id = 0; performance.now() < until; id++) {
    const body = JSON.stringify({ jsonrpc: '2.0', id, ...calls[id % calls.length] })
    const answer = await fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await answer.arrayBuffer()
    await pause(20)
  }
}

/** Whether memory stops growing. */
async function settles(readMiB: () => number): Promise<boolean> {
  const until = performance.now() + SETTLES_WITHIN_MS
  for (;;) {
    const before = readMiB()
    await pause(STEADY_MS)
    if (readMiB() - before < STEADY_MIB) return true
    if (performance.now() >= until) return false
  }
}

function slowest<P extends Probe>(probes: readonly P[]): P | undefined {
  return probes.toSorted((a, b) => b.ms - a.ms)[0]
}

function describeOutcome({ report, levelMiB, peakMiB, hasSettled, death, probes }: Outcome): string {
  const kinds = ['healthz', 'search', 'get_prompt', 'save'].map((kind) => {
    const all = probes.filter((probe) => probe.kind === kind)
    const rawMs = Math.max(...all.map((probe) => probe.rawMs))
    return `${kind} ${(slowest(all)?.ms ?? Number.NaN).toFixed(0)} ms (${rawMs.toFixed(0)} by the clock), ${all.filter(({ fault }) => fault !== null).length} of ${all.length} failed`
  })
  return `sent ${report.sent}, ${JSON.stringify(report.statuses)}; ${levelMiB.toFixed(0)} to ${peakMiB.toFixed(0)} MiB, ${
    hasSettled ? 'settled' : 'not settled'
  }, ${death ?? 'alive'}; ${kinds.join('; ')}`
}
