import type { Logger } from 'pino'
import type { FaultCounts, RecentFault } from '../domain/service/service.ts'
import type { AppError, StorageFault } from '../errors.ts'

/** Shortest interval between two log lines of the same fault. */
const QUIET_MS = 60_000
/** Most distinct messages. */
const MAX_KEPT = 100
const DAY_MS = 86_400_000

/** Logs faults an operator must know about. */
export type ReportFault = (error: AppError, requestId?: string) => void

/**
 * Faults, in the log and as figures.
 *
 * The message of a failed provider contains neither keys nor prompts. Its cause might, so it is left out. Faults of the library are logged
 * with their cause, once a minute each, with a count.
 */
export function createFaultLog(logger: Logger, now: () => number = Date.now) {
  const met = new Map<string, { untilMs: number; times: number }>()
  const counts = new Map<StorageFault, number>()
  /** By message, the newest last. */
  const recent = new Map<string, { times: number; lastMs: number }>()
  const remember = (message: string) => {
    const entry = recent.get(message)
    const isRecent = entry !== undefined && entry.lastMs > now() - DAY_MS
    recent.delete(message)
    const oldest = recent.keys().next().value
    if (recent.size >= MAX_KEPT && oldest !== undefined) recent.delete(oldest)
    recent.set(message, { times: (isRecent ? entry.times : 0) + 1, lastMs: now() })
  }
  return {
    /** Faults of the library since the start. */
    counts: (): FaultCounts => counts,
    /** Faults of the last day, newest first. */
    recent: (): readonly RecentFault[] =>
      [...recent]
        .filter(([, { lastMs }]) => lastMs > now() - DAY_MS)
        .map(([message, { times, lastMs }]) => ({ message, times, lastAt: new Date(lastMs).toISOString() }))
        .toReversed(),
    report(error: AppError, requestId?: string) {
      const { code, message, cause, fault = 'other' } = error
      if (code === 'internal') {
        remember(message)
        logger.error({ requestId, err: cause ?? error }, 'Internal error')
      } else if (code === 'upstream_failed') {
        remember(message)
        logger.warn({ requestId }, message)
      } else if (code === 'unavailable' && cause !== undefined) {
        remember(message)
        counts.set(fault, (counts.get(fault) ?? 0) + 1)
        const entry = met.get(message)
        if (entry && entry.untilMs > performance.now()) {
          entry.times++
          return
        }
        if (met.size >= MAX_KEPT) met.clear()
        met.set(message, { untilMs: performance.now() + QUIET_MS, times: 0 })
        logger.error({ requestId, err: cause, ...(entry && entry.times > 0 ? { timesSince: entry.times } : {}) }, message)
      }
    },
  }
}
