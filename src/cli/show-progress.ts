import { progress } from '@clack/prompts'

/** A progress bar on a terminal, otherwise silent. Writes to stderr only. */
export interface ProgressBar {
  advanceTo(done: number): void
  stop(message: string): void
}

/** Starts a bar of `max` steps with a message. */
export function startProgress(max: number, message: string): ProgressBar {
  if (!process.stderr.isTTY || max === 0) return { advanceTo: () => {}, stop: () => {} }
  const bar = progress({ max, output: process.stderr })
  let at = 0
  bar.start(message)
  return {
    advanceTo(done) {
      bar.advance(done - at)
      at = done
    },
    stop: (end) => bar.stop(end),
  }
}
