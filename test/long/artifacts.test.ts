import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { drive, FLOOR_ASKS, median, startFloor } from '../../bench/drive.ts'
import { findTestData } from '../support/real-data.ts'
import type { Probe } from './observer.ts'
import {
  endService,
  type FairProbe,
  makeWatchedLibrary,
  serveWatched,
  startDelays,
  startObserver,
  takeAtOnce,
  type WatchedLibrary,
} from './watched-service.ts'

/**
 * A client of the well-known index asks for hundreds of archives at once, from one address and without a key: it gets every one, and others
 * are answered meanwhile. In each round the service has just started, and has made no listing and no archive yet.
 *
 * The limit is milliseconds of a machine on which the floor (`bench/floor.ts`) takes `FLOOR_MICROSECONDS` of processor time for a request, as
 * in `dearest.test.ts`. From the time of an answer goes the time in which the service was ready to run and the machine had no core for it. Of
 * the slowest answers of the rounds, the median counts.
 */
const SKILLS = 1_000
const AT_ONCE = 300
const ROUNDS = 5
const MAX_OTHER_MS = 200
const FLOOR_MICROSECONDS = 80
/** How long the observer asks before the archives are asked for, so that the search index is read and code is compiled. */
const QUIET_MS = 2_000
/** Probes that began while something went on are answered by then. */
const LATE_MS = 300
const KINDS = ['healthz', 'search', 'get_prompt'] as const

let library: WatchedLibrary
let scale = 1

beforeAll(async () => {
  library = await makeWatchedLibrary()
  const { code, stderr } = await library.place.commonplace([
    'import',
    'skills',
    numberSkills(library.place.folder),
    '--user',
    'watched',
    '--public',
  ])
  expect(code, stderr).toBe(0)
  const floor = await startFloor()
  await drive(floor, FLOOR_ASKS, 10, 2_000)
  const times: number[] = []
  for (let round = 0; round < 5; round++) times.push((await drive(floor, FLOOR_ASKS, 10, 2_000)).cpuMicroseconds)
  await floor.stop()
  scale = Math.max(1, median(times) / FLOOR_MICROSECONDS)
}, 300_000)
afterAll(() => library.place.remove())

const nameOf = (number: number) => `numbered-${String(number % SKILLS).padStart(4, '0')}`

/** Writes the skills of the test data again and again under other names, each with files beside it. */
function numberSkills(place: string): string {
  const { skillsFolder } = findTestData()
  const originals = readdirSync(skillsFolder)
  const folder = join(place, 'numbered')
  for (let number = 0; number < SKILLS; number++) {
    const skill = join(folder, nameOf(number))
    cpSync(join(skillsFolder, originals[number % originals.length] ?? ''), skill, { recursive: true })
    const text = readFileSync(join(skill, 'SKILL.md'), 'utf8')
    writeFileSync(join(skill, 'SKILL.md'), text.replace(/^name:.*$/m, `name: ${nameOf(number)}`))
    mkdirSync(join(skill, 'notes'))
    for (const file of ['first.md', 'second.md']) writeFileSync(join(skill, 'notes', file), `${file} of ${nameOf(number)}\n`.repeat(200))
  }
  return folder
}

/** What others saw while something went on. */
interface Watched {
  readonly tookMs: number
  readonly probes: readonly FairProbe[]
}

const slowest = ({ probes }: Watched, kind: Probe['kind'], by: 'ms' | 'rawMs') =>
  Math.max(0, ...probes.filter((probe) => probe.kind === kind).map((probe) => probe[by]))

function describeWatched(what: string, watched: Watched): string {
  const others = KINDS.map(
    (kind) => `${kind} ${slowest(watched, kind, 'ms').toFixed(0)} ms (${slowest(watched, kind, 'rawMs').toFixed(0)})`,
  )
  return `${what} took ${watched.tookMs} ms, others at most ${others.join(', ')}`
}

const indexSchema = z.object({ skills: z.array(z.looseObject({ name: z.string(), digest: z.string() })) })

/** Starts the service, and takes the archives, the index, and the archives again. */
async function runRound(names: readonly string[]) {
  const served = await serveWatched(library)
  const observer = startObserver(served, library, { probes: [...KINDS], everyMs: 25 })
  const delays = startDelays(served, 5)
  async function watch<Result>(work: () => Promise<Result>): Promise<Watched & { readonly result: Result }> {
    const from = Date.now()
    const result = await work()
    const to = Date.now()
    await pause(LATE_MS)
    return { tookMs: to - from, probes: delays.probesWithin(observer.probes, from, to), result }
  }
  const paths = names.map((name) => `/.well-known/agent-skills/${name}.zip`)
  try {
    await pause(QUIET_MS)
    const first = await watch(async () => await takeAtOnce(served, paths))
    const index = await watch(async () =>
      indexSchema.parse(await (await fetch(`${served.url}/.well-known/agent-skills/index.json`)).json()),
    )
    const again = await watch(async () => await takeAtOnce(served, paths))
    return { first, index, again }
  } finally {
    delays.stop()
    await observer.stop()
    await endService(served)
  }
}

it(`gives ${AT_ONCE} archives at once, and others wait less than ${MAX_OTHER_MS} ms`, async () => {
  const slowestOfRounds = { first: [0], index: [0], again: [0] }
  const lines: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const names = Array.from({ length: AT_ONCE }, (_, place) => nameOf(round * AT_ONCE + place))
    const watched = await runRound(names)
    const { skills } = watched.index.result
    const parts = [
      describeWatched('the first time', watched.first),
      describeWatched('the index', watched.index),
      describeWatched('again', watched.again),
    ]
    lines.push(`${AT_ONCE} of ${skills.length} archives, scale ${scale.toFixed(2)}: ${parts.join('; ')}`)
    process.stderr.write(`${lines.at(-1)}\n`)
    const digests = new Map(skills.map(({ name, digest }) => [name, digest.replace('sha256:', '')]))
    expect(digests.size).toBeGreaterThanOrEqual(SKILLS)
    const expected = names.map((name) => ({ status: 200, sha256: digests.get(name) }))
    expect(watched.first.result).toEqual(expected)
    expect(watched.again.result).toEqual(expected)
    for (const phase of ['first', 'index', 'again'] as const) {
      const { probes } = watched[phase]
      for (const kind of KINDS) expect(probes.filter((probe) => probe.kind === kind).length, kind).toBeGreaterThan(0)
      expect(probes.flatMap(({ kind, fault }) => (fault === null ? [] : [`${kind}: ${fault}`]))).toEqual([])
      slowestOfRounds[phase][round] = Math.max(...KINDS.map((kind) => slowest(watched[phase], kind, 'ms')))
    }
  }
  for (const [phase, times] of Object.entries(slowestOfRounds))
    expect(median(times), `${phase}\n${lines.join('\n')}`).toBeLessThan(MAX_OTHER_MS * scale)
})
