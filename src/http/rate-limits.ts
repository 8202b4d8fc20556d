import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../errors.ts'
import type { Clock } from '../library/ports/environment.ts'
import type { LibraryStore } from '../storage/store.ts'
import { createSharedCounts } from './shared-counts.ts'

const WINDOW_SECONDS = 60
/** The most that a caller may owe, in limits of a minute. */
const MAX_DEBT = 10

/** Limits the points of callers. */
export interface RateLimits {
  /**
   * Charges points to a caller. Null when charged synchronously.
   * @throws AppError `rate_limited`, with the seconds to wait
   */
  count(caller: string, points?: number): Promise<void> | null
  /** Charges finished work. What is over the limit counts for the next minutes, up to `MAX_DEBT` limits; shared counts forget it then. */
  settle(caller: string, points: number): Promise<void>
}

/**
 * Limits of `perMinute` points for each caller; null counts nothing.
 * @param shared where all instances count together; without it this process counts by itself
 */
export function createRateLimits(
  perMinute: number | null,
  shared: { readonly store: LibraryStore['instances']; readonly clock: Clock } | null = null,
): RateLimits {
  if (perMinute === null) return { count: () => null, settle: async () => {} }
  const refuse = (waitMs: number): never => {
    // A clock that was set back must not make anybody wait longer than a window.
    const retryAfterSeconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)))
    const message = `Too many requests. The limit is ${perMinute} per minute and caller; expensive requests count as several. Try again in ${retryAfterSeconds} seconds.`
    throw new AppError('rate_limited', message, { retryAfterSeconds })
  }
  /** A count that is no number would never reach the limit again. */
  const check = (points: number): void => {
    if (!Number.isFinite(points) || points < 0) throw new AppError('internal', `${points} points cannot be counted`)
  }
  if (shared) {
    const counts = createSharedCounts(shared.store, shared.clock, perMinute, WINDOW_SECONDS * 1000)
    return {
      count(caller, points = 1) {
        check(points)
        const waitMs = counts.count(caller, points)
        return waitMs === null ? null : refuse(waitMs)
      },
      async settle(caller, points) {
        check(points)
        counts.count(caller, points)
      },
    }
  }
  const limiter = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS })
  return {
    async count(caller, points = 1) {
      check(points)
      try {
        await limiter.consume(caller, points)
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        refuse(refused.msBeforeNext)
      }
    },
    async settle(caller, points) {
      check(points)
      const { consumedPoints } = await limiter.penalty(caller, points)
      const owed = Math.min(consumedPoints, perMinute * MAX_DEBT)
      if (owed > perMinute) await limiter.set(caller, owed, Math.ceil((WINDOW_SECONDS * owed) / perMinute))
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
