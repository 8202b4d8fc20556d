import { constants } from 'node:os'
import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ErrorCode } from '../errors.ts'

/** Oldest Node that runs the program. `engines` of package.json has an older one: `npm ci` brings this. */
const MIN_NODE_MAJOR = 24

/**
 * The error for an outdated Node, or null. Must run on old versions itself.
 * @param packagedNode the Node that `npm ci` installed; null where it did not run
 */
export function oldNodeFault(version: string, packagedNode: string | null): string | null {
  if (Number.parseInt(version, 10) >= MIN_NODE_MAJOR) return null
  const advice = packagedNode === null ? 'Start it with a newer version.' : `Start it with ${packagedNode} (installed by npm ci).`
  return `Commonplace needs Node ${MIN_NODE_MAJOR} or newer; this is Node ${version}. ${advice}`
}

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

/** Flags that keep the service small: half the memory under load, for a few per cent of processor time. See docs/decisions/0011. The Dockerfile has them too. */
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

/** How often the process is looked at, in milliseconds. */
const EVERY_MS = 5_000
/** Share of the time in which an idle event loop is busy, at most. */
const MAX_BUSY = 0.1
/** A collection is worth its time when the process has grown by this much since the last one. */
const MIN_GROWTH_BYTES = 16 * 1024 * 1024
/** A larger heap is not collected: that would keep callers waiting. */
const MAX_HEAP_BYTES = 256 * 1024 * 1024

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void

/**
 * Gives memory back after heavy work. V8 keeps what it took until it collects again, which a process at rest does not do: after large
 * requests that was some 60 MB for good.
 */
export function collectWhenIdle(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (!isCollect(collect)) return
  let last = performance.eventLoopUtilization()
  let least = process.memoryUsage.rss()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    const resident = process.memoryUsage.rss()
    if (utilization > MAX_BUSY || resident - least < MIN_GROWTH_BYTES || getHeapStatistics().used_heap_size > MAX_HEAP_BYTES) return
    collect({ type: 'major', flavor: 'last-resort' })
    least = process.memoryUsage.rss()
  }, EVERY_MS).unref()
}

function isCollect(value: unknown): value is Collect {
  return typeof value === 'function'
}

/** Exit status of each error code, after sysexits.h where it has one. */
export const EXIT_CODES = {
  invalid_input: 64,
  unauthenticated: 77,
  invalid_api_key: 77,
  forbidden: 77,
  not_found: 66,
  method_not_allowed: 64,
  conflict: 75,
  too_large: 65,
  unsupported_media_type: 65,
  rate_limited: 75,
  upstream_failed: 69,
  unavailable: 69,
  internal: 70,
} as const satisfies Record<ErrorCode, number>

/** The meaning of each exit status, for the reference. */
export const EXIT_STATUSES: Readonly<Record<0 | 1 | 2 | (typeof EXIT_CODES)[ErrorCode], string>> = {
  0: 'Done.',
  1: 'Partly done: an import or an embedding model rejected entries, each named on stderr. Or `doctor` or `check` found something.',
  2: '`check` could not be made.',
  64: 'Usage error: an unknown command or option, a missing argument, or an invalid value.',
  65: 'The input is too large or has an unsupported type.',
  66: 'The item, user, key or library does not exist or is not visible to you.',
  69: 'The library, a model or another server is unavailable, the port is in use, or Node is too old.',
  70: 'Unexpected error; see stderr for details.',
  75: 'Conflict or limit: the item changed meanwhile, the name is taken, or a limit is reached.',
  77: 'The API key is missing or invalid, or lacks permission.',
}
