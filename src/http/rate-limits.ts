import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../domain/ports/environment.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'

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

/** The caller of requests without a key: an address, or the network of one where a single machine has a whole network (IPv6 /64). */
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

/** Share of a limit an instance counts locally before it writes to the shared count: light callers cost nothing. */
const UNSHARED_PART = 1 / 100
/** How often counts are added at most. */
const ADD_EVERY_MS = 250

interface Count {
  /** The count of all instances when this one last asked. */
  total: number
  /** The count of this one since. */
  own: number
}

/**
 * A limit of `points` in each stretch of `windowMs`, which begin at the same moments for all instances. A caller may pass it by that small
 * part at each instance.
 */
export function createSharedCounts(store: Pick<LibraryStore['instances'], 'addPoints'>, clock: Clock, points: number, windowMs: number) {
  const unshared = Math.max(1, Math.floor(points * UNSHARED_PART))
  let counts = new Map<string, Count>()
  let endsAt = 0
  let adding: Promise<void> | null = null
  let addedAt = 0

  async function add(now: number): Promise<void> {
    addedAt = now
    const current = counts
    const points = new Map([...current].filter(([, { own }]) => own >= unshared).map(([caller, { own }]) => [caller, own]))
    const names = new Map([...points].map(([caller, own]) => [`requests ${caller}`, own]))
    const totals = await store.addPoints(new Date(endsAt).toISOString(), names)
    for (const [caller, own] of points) {
      const count = current.get(caller)
      if (!count) continue
      count.own -= own
      count.total = totals.get(`requests ${caller}`) ?? count.total + own
    }
  }

  return {
    /** Counts requests of a caller; null when they are within the limit, else the milliseconds to wait. Never waits for the store. */
    count(caller: string, requests: number): number | null {
      const now = clock()
      // A clock that was set back begins a new stretch, or the old one would last for as long as it jumped.
      if (now >= endsAt || endsAt - now > windowMs) {
        counts = new Map()
        endsAt = (Math.floor(now / windowMs) + 1) * windowMs
      }
      const count = counts.get(caller) ?? { total: 0, own: 0 }
      counts.set(caller, count)
      count.own += requests
      if (count.own >= unshared && !adding && now - addedAt >= ADD_EVERY_MS) {
        // A store that cannot be reached loses nothing: what was counted here is added later.
        adding = add(now)
          .catch(() => {})
          .finally(() => {
            adding = null
          })
      }
      return count.total + count.own > points ? endsAt - now : null
    },
  }
}
