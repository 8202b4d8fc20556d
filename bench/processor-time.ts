import { readdirSync, readFileSync } from 'node:fs'

/** What Node calls its worker threads; the encoder's is the only one that searches use. */
export const ENCODER_THREAD = 'WorkerThread'

/**
 * Processor time a process has used so far, in microseconds, over all of its threads, or those of a name, such as {@link ENCODER_THREAD}: from
 * the kernel's account, whatever else the machine does.
 */
export function readProcessorTime(pid: number, threadName?: string): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    if (threadName !== undefined && readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim() !== threadName) continue
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  }
  if (threadName === undefined && !(nanoseconds > 0))
    throw new Error(`The kernel says nothing of the processor time of process ${pid}: this takes Linux with schedstat.`)
  return nanoseconds / 1000
}

/** How long the main thread of a process was ready to run and had no core, so far, in milliseconds: what others on the machine made it wait. */
export function readRunDelayMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
}

/** Resident memory of a process, in MiB: now, and the most there ever was. */
export function readResidentMiB(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}
