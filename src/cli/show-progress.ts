import { progress } from '@clack/prompts'
import { printError } from './print.ts'

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

/** Progress per table: a bar on a terminal, otherwise a line per finished table. Writes to stderr only. */
export function showTables(): {
  advance(progress: { readonly table: string; readonly rows: number; readonly ofRows: number }): void
  stop(): void
} {
  let bar = startProgress(0, '')
  let shown = ''
  const stop = () => bar.stop(shown)
  return {
    advance({ table, rows, ofRows }) {
      if (!process.stderr.isTTY) {
        if (rows >= ofRows && table !== shown) printError(`${table}: ${rows} rows\n`)
        if (rows >= ofRows) shown = table
        return
      }
      if (table !== shown) {
        stop()
        shown = table
        bar = startProgress(ofRows, `Copying ${table}`)
      }
      bar.advanceTo(rows)
    },
    stop,
  }
}
