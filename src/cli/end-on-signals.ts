import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Makes unhandled signals end process 1 of a container, as they end any other process. For process 1 the kernel drops
 * such signals, so a service would finish starting after it was signalled to stop. Nothing is lost, because both engines undo what was not
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
