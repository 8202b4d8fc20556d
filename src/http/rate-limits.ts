import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../errors.ts'

const WINDOW_SECONDS = 60
/** Requests being worked on at once, over all callers. */
const MAX_IN_FLIGHT = 1_000

/** Counts what callers ask for, and refuses what is too much. */
export interface RateLimits {
  /**
   * Counts one request of a caller.
   * @throws AppError `rate_limited`, with the seconds to wait
   */
  count(caller: string): Promise<void>
  /** Runs one request's work. @throws AppError `unavailable` when too many are going on already */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** Limits of `perMinute` requests for each caller; null counts nothing. */
export function createRateLimits(perMinute: number | null, maxInFlight: number = MAX_IN_FLIGHT): RateLimits {
  const limiter = perMinute === null ? null : new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS })
  let inFlight = 0
  return {
    async count(caller) {
      try {
        await limiter?.consume(caller)
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000))
        const message = `Too many requests: ${perMinute} a minute are served to one caller. Try again in ${retryAfterSeconds} seconds.`
        throw new AppError('rate_limited', message, { retryAfterSeconds })
      }
    },
    async run(work) {
      if (inFlight >= maxInFlight)
        throw new AppError('unavailable', 'The service has too much to do at this moment; try again.', { retryAfterSeconds: 1 })
      inFlight++
      try {
        return await work()
      } finally {
        inFlight--
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
