import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { useHeapFlags } from './heap-flags.ts'

const MAIN = fileURLToPath(import.meta.url)

/** Runs one command line. The program is loaded last: `serve` starts this process anew first, with flags of its own. */
export async function main(argv: readonly string[]): Promise<void> {
  if (argv[2] === 'serve') useHeapFlags(MAIN, argv.slice(2))
  const { runProgram } = await import('./run-program.ts')
  await runProgram(argv)
}

if (process.argv[1] && realpathSync(process.argv[1]) === MAIN) await main(process.argv)
