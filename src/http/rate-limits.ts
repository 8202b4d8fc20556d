import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../errors.ts'
import type { CounterStore } from '../library/instances.ts'
import type { Clock } from '../library/ports.ts'
import { createTally } from '../library/tally.ts'
import { createSharedCounts } from './shared-counts.ts'

const WINDOW_SECONDS = 60
/** Requests being worked on at once, over all callers. */
const MAX_IN_FLIGHT = 2_000
/** And of one caller: far more than a client opens, few enough that nobody takes all places. */
const MAX_IN_FLIGHT_EACH = 100

/** Counts what callers ask for, and refuses what is too much. */
export interface RateLimits {
  /**
   * Counts a request of a caller, or several that came as one.
   * @throws AppError `rate_limited`, with the seconds to wait
   */
  count(caller: string, requests?: number): Promise<void>
  /**
   * Runs one request's work for a caller.
   * @throws AppError `rate_limited` when the caller has too many going on already, `unavailable` when all callers together have
   */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>
}

/**
 * Limits of `perMinute` requests for each caller; null counts nothing. What is being worked on at once is limited for each process.
 * @param shared where all instances count together; without it this process counts by itself
 */
export function createRateLimits(
  perMinute: number | null,
  shared: { readonly store: CounterStore; readonly clock: Clock } | null = null,
  inFlightLimits: { all: number; each: number } = { all: MAX_IN_FLIGHT, each: MAX_IN_FLIGHT_EACH },
): RateLimits {
  const limiter = perMinute === null || shared ? null : new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS })
  const counts = perMinute === null || !shared ? null : createSharedCounts(shared.store, shared.clock, perMinute, WINDOW_SECONDS * 1000)
  const refuse = (waitMs: number): never => {
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
    const message = `Too many requests: ${perMinute} a minute are served to one caller. Try again in ${retryAfterSeconds} seconds.`
    throw new AppError('rate_limited', message, { retryAfterSeconds })
  }
  const inFlight = createTally()
  let inFlightOfAll = 0
  return {
    async count(caller, requests = 1) {
      try {
        await limiter?.consume(caller, requests)
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        refuse(refused.msBeforeNext)
      }
      const waitMs = counts?.count(caller, requests) ?? null
      if (waitMs !== null) refuse(waitMs)
    },
    async run(caller, work) {
      const own = inFlight.of(caller)
      if (own >= inFlightLimits.each) {
        throw new AppError('rate_limited', `${own} of your requests are being worked on already; wait for some.`, { retryAfterSeconds: 1 })
      }
      if (inFlightOfAll >= inFlightLimits.all) {
        throw new AppError('unavailable', 'The service has too much to do at this moment; try again.', { retryAfterSeconds: 1 })
      }
      const release = inFlight.add(caller)
      inFlightOfAll++
      try {
        return await work()
      } finally {
        inFlightOfAll--
        release()
      }
    },
  }
}

/** Whom requests without a key are counted for: an address, or the network of one where a single machine has a whole network (IPv6 /64). */
export function callerOfAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return `address ${mapped}`
  if (!isIPv6(address)) return `address ${address}`
  const [head = '', tail] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups =
    tail === undefined ? front : [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0'), ...back]
  return `address ${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
