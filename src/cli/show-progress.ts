import { progress } from '@clack/prompts'
import type { OnCopied } from '../domain/service/transfer.ts'
import { printError } from './print.ts'

/** Starts a bar of `max` steps with a message on a terminal, otherwise a silent one. Writes to stderr only. */
export function startProgress(max: number, message: string) {
  if (!process.stderr.isTTY || max === 0) return { advanceTo: (_: number) => {}, stop: (_: string) => {} }
  const bar = progress({ max, output: process.stderr })
  let at = 0
  bar.start(message)
  return {
    advanceTo(done: number) {
      bar.advance(done - at)
      at = done
    },
    stop: (end: string) => bar.stop(end),
  }
}

/** Progress per table: a bar on a terminal, otherwise a line per finished table. Writes to stderr only. */
export function showTables() {
  let bar = startProgress(0, '')
  let shown = ''
  const stop = () => bar.stop(shown)
  return {
    advance({ table, rows, ofRows }: Parameters<OnCopied>[0]) {
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
