import { AsyncLocalStorage } from 'node:async_hooks'
import type { WorkMeter } from '../library/ports/store.ts'

const meters = new AsyncLocalStorage<WorkMeter>()

/** Runs `work`, and whatever it begins, with a meter. */
export function meterWork<T>(meter: WorkMeter, work: () => T): T {
  return meters.run(meter, work)
}

/** Notes work of the call that this is part of; of none, nothing is noted. */
export function noteWork(points: number): void {
  const meter = meters.getStore()
  if (meter) meter.points += points
}
