import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../domain/ports/environment.ts'
import type { LibraryStore } from '../storage/store.ts'

/** Lets each of many do something so often in a stretch of time. */
export interface Limiter {
  /** Counts one; null when it is within the limit, else the seconds to wait. */
  count(key: string): Promise<number | null>
  /** Takes one back. */
  reward(key: string): Promise<void>
}

/** The store and clock of limiters: several instances share their counts. */
export interface LimiterStore {
  readonly store: LibraryStore['instances'] & LibraryStore['instances']
  readonly clock: Clock
}

/** A limit of `points` in `seconds`, over all instances. `name` tells its counts from those of other limits. */
export function createLimiter(name: string, { store, clock }: LimiterStore, points: number, seconds: number): Limiter {
  return store.isShared ? sharedLimiter(name, store, clock, points, seconds) : ownLimiter(points, seconds)
}

function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

function ownLimiter(points: number, seconds: number): Limiter {
  const limiter = new RateLimiterMemory({ points, duration: seconds })
  return {
    async count(key) {
      try {
        await limiter.consume(key)
        return null
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        // A clock that was set back must not make anybody wait longer than the stretch.
        return Math.min(seconds, toSeconds(refused.msBeforeNext))
      }
    },
    async reward(key) {
      await limiter.reward(key)
    },
  }
}

/** Stretches begin at the same moments for all instances. */
function sharedLimiter(name: string, store: LibraryStore['instances'], clock: Clock, points: number, seconds: number): Limiter {
  const length = seconds * 1000
  const add = async (key: string, count: number) => {
    const end = (Math.floor(clock() / length) + 1) * length
    // Typed text may contain characters that databases refuse.
    const counted = `${name} ${key.replaceAll('\0', '\ufffd')}`
    const totals = await store.addPoints(new Date(end).toISOString(), new Map([[counted, count]]))
    return { total: totals.get(counted) ?? 0, leftMs: end - clock() }
  }
  return {
    async count(key) {
      const { total, leftMs } = await add(key, 1)
      return total <= points ? null : toSeconds(leftMs)
    },
    async reward(key) {
      await add(key, -1)
    },
  }
}
