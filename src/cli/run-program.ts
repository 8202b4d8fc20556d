import { CommanderError } from 'commander'
import { toAppError } from '../errors.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { printError } from './print.ts'
import { createProgram } from './program.ts'

/** How long a command that failed may take to end. */
const LINGER_MS = 500

/** Runs one command line as the whole work of a process; the exit status says how it went. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  // A closed output pipe (`… | head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  if (await runCommandLine(argv)) return
  // A connection may have been left open: a server of PostgreSQL that was refused a password closes it after a minute.
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

/** Runs one command line and sets `process.exitCode`. False when it failed and may have left something open. */
export async function runCommandLine(argv: readonly string[]): Promise<boolean> {
  try {
    await createProgram().parseAsync([...argv])
    return true
  } catch (thrown) {
    // Commander has written what is wrong, or the help that was asked for.
    if (thrown instanceof CommanderError) {
      process.exitCode = thrown.exitCode === 0 ? 0 : EXIT_CODES.invalid_input
      return true
    }
    const error = toAppError(thrown)
    const cause = error.code === 'internal' && error.cause instanceof Error ? `: ${error.cause.stack ?? error.cause.message}` : ''
    printError(`${error.message}${cause}\n`)
    process.exitCode = EXIT_CODES[error.code]
    return false
  }
}
