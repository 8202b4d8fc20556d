/** Retry advice of a failed attempt. */
export interface Failure {
  /** HTTP status; undefined when there was no answer at all. */
  readonly status: number | undefined
  /** The answer's Retry-After header. */
  readonly retryAfter: string | undefined
}

/** Attempts beyond the first. */
const MAX_RETRIES = 3
const FIRST_WAIT_MS = 500

/** Statuses that say "not now": too many requests, and faults that may pass. */
function mayPass(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500
}

/** Seconds or a date (RFC 9110, 10.2.3), in milliseconds from now; undefined when it is neither. */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/**
 * Delay before a retry in milliseconds: 0.5, 1, then 2 seconds, or longer if the server asks. null: no retry.
 * @param attempt number of earlier attempts
 * @param leftMs time left; there is no retry when the delay would exceed it
 */
export function waitBeforeRetry({ status, retryAfter }: Failure, attempt: number, leftMs: number, now: number): number | null {
  if (attempt >= MAX_RETRIES || !mayPass(status)) return null
  const waitMs = Math.max(readRetryAfter(retryAfter, now) ?? 0, FIRST_WAIT_MS * 2 ** attempt)
  return waitMs < leftMs ? waitMs : null
}
