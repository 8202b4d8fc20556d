import { AppError } from '../errors.ts'

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
function readRetryAfter(text: string | undefined, now: number): number | undefined {
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

/** Longest wait passed on to callers, unless they say another. */
const MAX_RETRY_AFTER_SECONDS = 86_400
/** The meaning of each HTTP status of a provider to an operator. */
const STATUS_HINTS: Partial<Record<number, string>> = {
  401: 'the key was rejected',
  403: 'the key has no access to this model',
  404: 'unknown model or address',
  429: 'rate limit reached or no credit left',
}

/** A failure as callers see it, with the time after which trying again makes sense. What the provider wrote is left out. */
export function describeFailure(name: string, { status, retryAfter }: Failure, maxSeconds = MAX_RETRY_AFTER_SECONDS): AppError {
  if (status === undefined) return new AppError('upstream_failed', `${name} is unreachable.`)
  const hint = STATUS_HINTS[status] ?? (status >= 300 && status < 400 ? 'redirects are not followed' : undefined)
  const waitMs = readRetryAfter(retryAfter, Date.now())
  return new AppError('upstream_failed', `${name} returned ${status}${hint ? ` (${hint})` : ''}.`, {
    ...(!waitMs ? {} : { retryAfterSeconds: Math.min(Math.ceil(waitMs / 1000), maxSeconds) }),
  })
}

/** How to wait and to draw numbers, passed in so that tests need not wait. */
export interface Patience {
  /** Resolves after so long; rejects when the signal is aborted. Keeps no process alive. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** From 0 to less than 1. */
  fraction(): number
}

/**
 * Exponential back-off with jitter, in milliseconds, after so many failures in a row (1, 2, …): doubling up to a maximum, of which a random
 * half to whole is used.
 */
export function backOffMs(failures: number, firstMs: number, mostMs: number, fraction: number): number {
  const ms = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return ms / 2 + (ms / 2) * fraction
}

/**
 * `fetch` for talking to a model: redirects are not followed, because a key goes where it was meant to go or nowhere,
 * and a body fails with `upstream_failed` after `maxBytes` (counted as they are read, unpacked).
 */
export function createBoundedFetch(maxBytes: number, fetcher: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await fetcher(input, { ...init, redirect: 'manual' })
    if (!response.body) return response
    let bytes = 0
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          bytes += chunk.byteLength
          if (bytes <= maxBytes) controller.enqueue(chunk)
          else
            controller.error(
              new AppError('upstream_failed', `The model server sent more than ${maxBytes} bytes; the response was stopped.`),
            )
        },
      }),
    )
    return new Response(counted, { status: response.status, headers: response.headers })
  }
}
