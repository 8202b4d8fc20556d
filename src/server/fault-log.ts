import type { Logger } from 'pino'
import type { AppError } from '../errors.ts'

/** The same fault of the library is logged once in this time. */
const QUIET_MS = 60_000
/** Different sentences kept at most. */
const MAX_KEPT = 100

/** Tells the log what an operator must hear of. */
export type ReportFault = (error: AppError, requestId?: string) => void

/**
 * The sentence of a service that failed holds neither keys nor prompts; its cause might, so it is left out. What keeps the library from being
 * used has a cause of the system, which is logged: once a minute each, with how often it was met since.
 */
export function createFaultLog(logger: Logger): ReportFault {
  const met = new Map<string, { untilMs: number; times: number }>()
  return (error, requestId) => {
    const { code, message, cause } = error
    if (code === 'internal') logger.error({ requestId, err: cause ?? error }, 'Internal error')
    else if (code === 'upstream_failed') logger.warn({ requestId }, message)
    else if (code === 'unavailable' && cause !== undefined) {
      const known = met.get(message)
      if (known && known.untilMs > performance.now()) {
        known.times++
        return
      }
      if (met.size >= MAX_KEPT) met.clear()
      met.set(message, { untilMs: performance.now() + QUIET_MS, times: 0 })
      logger.error({ requestId, err: cause, ...(known && known.times > 0 ? { timesSince: known.times } : {}) }, message)
    }
  }
}
