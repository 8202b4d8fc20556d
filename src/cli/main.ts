#!/usr/bin/env node
import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { collectWhenIdle, EXIT_CODES, endOnSignals, oldNodeFault, useHeapFlags } from './start-process.ts'

const MAIN = fileURLToPath(import.meta.url)
/** The Node that is installed with the packages; this file stands two folders below the root. */
const PACKAGED_NODE = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url))

/**
 * Runs one command line. The program is loaded last: an older Node could not load it, and `serve` first restarts this process,
 * with flags of its own.
 */
export async function main(argv: readonly string[]): Promise<void> {
  const fault = oldNodeFault(process.versions.node, existsSync(PACKAGED_NODE) ? PACKAGED_NODE : null)
  if (fault !== null) {
    process.stderr.write(`${fault}\n`)
    process.exitCode = EXIT_CODES.unavailable
    return
  }
  if (argv[2] === 'serve') {
    useHeapFlags(MAIN, argv.slice(2))
    collectWhenIdle()
  }
  endOnSignals()
  const { runProgram } = await import('./program.ts')
  await runProgram(argv)
}

// Without waiting for it, so that the single executable can load this file with `require`.
if (process.argv[1] && realpathSync(process.argv[1]) === MAIN) void main(process.argv)
