import { setFlagsFromString } from 'node:v8'

/** What keeps the service small: half the memory under load, for a few per cent of processor time. See docs/decisions/0011. The Dockerfile has them too. */
export const HEAP_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=20']

/** Large buffers, such as bodies of requests, go back to the system when they are freed (glibc's mallopt; others ignore it). The Dockerfile too. */
export const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' }

/**
 * Sees to it that this process runs with the heap flags, except those that were given a value already. V8 reads the size of the young
 * generation when it starts, so the process restarts itself under the same id; where that cannot be, the flags are set now, which
 * does a third of the good.
 * @param program the file to start, with `args`
 */
export function useHeapFlags(program: string, args: readonly string[]): void {
  const missing = missingHeapFlags(process.execArgv, process.env['NODE_OPTIONS'] ?? '')
  if (missing.length === 0) return
  // A channel to a parent process does not survive.
  if (process.execve && process.channel === undefined) {
    try {
      process.execve(process.execPath, [process.argv0, ...missing, ...process.execArgv, program, ...args], { ...ALLOCATOR, ...process.env })
    } catch {
      // Not on this system (Windows, a permission that is missing).
    }
  }
  for (const flag of missing) setFlagsFromString(flag)
}

/** The heap flags that neither the command line of Node nor NODE_OPTIONS has. */
export function missingHeapFlags(execArgv: readonly string[], nodeOptions: string): string[] {
  const given = new Set([...execArgv, ...nodeOptions.split(/\s+/)].map(nameOfFlag))
  return HEAP_FLAGS.filter((flag) => !given.has(nameOfFlag(flag)))
}

/** V8 takes underscores for hyphens. */
function nameOfFlag(flag: string): string {
  return flag.split('=', 1).join('').replaceAll('_', '-')
}
