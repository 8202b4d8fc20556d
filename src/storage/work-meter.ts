import { AsyncLocalStorage } from 'node:async_hooks'

/** Adds up what the work of one call takes, in points: a point is about a millisecond of processor. */
export interface WorkMeter {
  points: number
}

const meters = new AsyncLocalStorage<WorkMeter>()

/** Runs `work` with a meter, which everything that it starts adds to. */
export function meterWork<T>(meter: WorkMeter, work: () => T): T {
  return meters.run(meter, work)
}

/** Adds to the meter of the current call. Does nothing outside of one. */
export function noteWork(points: number): void {
  const meter = meters.getStore()
  if (meter) meter.points += points
}
