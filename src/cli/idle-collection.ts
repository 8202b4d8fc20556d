import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

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
