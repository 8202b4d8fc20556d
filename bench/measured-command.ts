import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place } from '../test/support/processes.ts'
import { readProcessorTime, readResidentMiB } from './processor-time.ts'

/** From one look at the process to the next. */
const LOOK_MS = 50

/** What a command took, and what it said on both outputs. */
export interface CommandFigures {
  readonly seconds: number
  /** Of its process, as last seen before its end. */
  readonly cpuSeconds: number
  readonly peakMiB: number
  readonly said: string
}

/** Runs a command of the built program to its end. @throws Error when it fails */
export async function measureCommand(place: Place, args: readonly string[], env: Record<string, string>): Promise<CommandFigures> {
  const started = performance.now()
  const child = place.start(args, { env })
  child.stdin.end()
  let [said, cpu, peakMiB] = ['', 0, 0]
  const note = (text: string) => {
    said += text
  }
  child.stdout.on('data', note)
  child.stderr.on('data', note)
  const ended = once(child, 'close')
  while (child.exitCode === null && child.signalCode === null) {
    try {
      cpu = readProcessorTime(child.pid ?? 0)
      peakMiB = readResidentMiB(child.pid ?? 0).peak || peakMiB
    } catch {
      // It has just ended.
    }
    await Promise.race([ended, sleep(LOOK_MS)])
  }
  await ended
  const seconds = (performance.now() - started) / 1000
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}: ${said.slice(-500)}`)
  return { seconds, cpuSeconds: cpu / 1e6, peakMiB, said }
}
