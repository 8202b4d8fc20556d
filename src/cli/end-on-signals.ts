import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Gives the first process of a container what every other process has: a signal that nobody handles ends it. For process 1 the kernel drops
 * such signals, so a service would start to its end after it was told to stop. Nothing is lost, because both engines undo what was not
 * committed. Handlers that are added later, such as those of `serve`, take over.
 */
export function endOnSignals(): void {
  // Anywhere else the kernel does it, even while JavaScript is busy.
  if (process.pid !== 1) return
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
    })
  }
}
