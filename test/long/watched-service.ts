import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { readRunDelayMs } from '../../bench/processor-time.ts'
import { endProcess } from '../support/children.ts'
import { createPlace, type Place, type Served } from '../support/processes.ts'
import { findTestData } from '../support/real-data.ts'
import type { AttackOrder, AttackReport } from './attacker.ts'
import type { ObserverOrder, Probe } from './observer.ts'
import type { Taken, TakeOrder } from './taker.ts'

/** Where who attacks and who observes come from: each is a caller of its own. */
const ATTACKER = '127.0.0.3'
const OBSERVER = '127.0.0.2'
/** An old generation that a memory leak fills within a test. */
const HEAP_MB = 256

/** A library to attack: public prompts and skills, and somebody who saves. */
export interface WatchedLibrary {
  readonly place: Place
  readonly key: string
  /** A public prompt with a variable that has no default. */
  readonly askingPrompt: string
}

/** Makes the library of the test data. */
export async function makeWatchedLibrary(): Promise<WatchedLibrary> {
  const place = createPlace()
  const { promptsFile, skillsFolder } = findTestData()
  const must = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await place.commonplace(args)
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout.trim()
  }
  await must(['import', 'prompts', promptsFile, '--user', 'watched', '--public'])
  await must(['import', 'skills', skillsFolder, '--user', 'watched', '--public'])
  await must(['users', 'create', 'saver'])
  await must(['save-prompt', '--user', 'watched', '--title', 'Watched letter', '--content', 'Write to ${who}.', '--visibility', 'public'])
  return { place, key: await must(['keys', 'create', '--user', 'saver', '--name', 'k']), askingPrompt: 'watched-letter' }
}

/** Starts the service at its default limits, with a small heap. */
export async function serveWatched({ place }: WatchedLibrary): Promise<Served & { readonly host: string; readonly port: number }> {
  const served = await place.serve({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` }, instances: 1 })
  const { hostname, port } = new URL(served.url)
  return { ...served, host: hostname, port: Number(port) }
}

/** Starts an observer; `stop` gives all it saw. */
export function startObserver(
  { host, port }: { host: string; port: number },
  { key, askingPrompt }: WatchedLibrary,
  how: Pick<ObserverOrder, 'probes' | 'everyMs'>,
): { readonly probes: readonly Probe[]; stop(): Promise<void> } {
  const child = startProgram('observer.ts', { host, port, from: OBSERVER, key, prompt: askingPrompt, ...how } satisfies ObserverOrder)
  const probes: Probe[] = []
  child.on('message', (probe: Probe) => probes.push(probe))
  return {
    probes,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.send('stop')
      await once(child, 'exit')
    },
  }
}

/** A probe of which `ms` is without the time in which the service had no core, `rawMs` with it. */
export interface FairProbe extends Probe {
  readonly rawMs: number
}

/** Notes again and again how long the service was ready to run while the machine, busy with other programs, had no core for it. */
export function startDelays({ child }: Served, everyMs: number) {
  const samples: { readonly at: number; readonly totalMs: number }[] = []
  const note = () => {
    if (child.exitCode === null && child.signalCode === null) samples.push({ at: Date.now(), totalMs: readRunDelayMs(child.pid ?? 0) })
  }
  note()
  const timer = setInterval(note, everyMs)
  const within = (from: number, to: number) => {
    const before = samples.findLast(({ at }) => at <= from) ?? samples[0]
    const after = samples.find(({ at }) => at >= to) ?? samples.at(-1)
    return (after?.totalMs ?? 0) - (before?.totalMs ?? 0)
  }
  return {
    stop: () => clearInterval(timer),
    /** The probes that were under way at some time between two moments. */
    probesWithin: (probes: readonly Probe[], from: number, to: number): FairProbe[] =>
      probes
        .filter(({ startedAt, ms }) => startedAt <= to && startedAt + ms >= from)
        .map((probe) => ({
          ...probe,
          rawMs: probe.ms,
          ms: Math.max(0, probe.ms - within(probe.startedAt, probe.startedAt + probe.ms)),
        })),
  }
}

/** Attacks for some seconds. */
export async function attack(
  { host, port }: { host: string; port: number },
  name: string,
  seconds: number,
  { askingPrompt }: WatchedLibrary,
): Promise<AttackReport> {
  const child = startProgram('attacker.ts', { attack: name, host, port, from: ATTACKER, seconds, askingPrompt } satisfies AttackOrder)
  const late = setTimeout(() => child.kill('SIGKILL'), (seconds + 30) * 1000)
  const [first] = await Promise.race([once(child, 'message'), once(child, 'exit')]).finally(() => clearTimeout(late))
  if (typeof first !== 'object' || first === null) throw new Error(`The attacker ended with ${first} and no report.`)
  return first
}

/** Asks for many addresses at once, as one client without a key; the answers are in the order of the addresses. */
export async function takeAtOnce({ host, port }: { host: string; port: number }, paths: readonly string[]): Promise<Taken[]> {
  const child = startProgram('taker.ts', { host, port, from: ATTACKER, paths: [...paths] } satisfies TakeOrder)
  const [first] = await Promise.race([once(child, 'message'), once(child, 'exit')])
  if (!Array.isArray(first)) throw new Error(`The client ended with ${first} and no answers.`)
  return first
}

/** Ends the service, unless it has ended by itself. */
export async function endService({ child }: Served): Promise<void> {
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await endProcess(child)
  clearTimeout(late)
}

function startProgram(file: string, order: object): ChildProcess {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: [] })
  child.send(order)
  return child
}
