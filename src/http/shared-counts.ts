import type { Clock } from '../library/ports/environment.ts'
import type { LibraryStore } from '../storage/store.ts'

/** Share of a limit an instance counts locally before it writes to the shared count: light callers cost nothing. */
const UNSHARED_PART = 1 / 100
/** How often counts are added at most. */
const ADD_EVERY_MS = 250

/** Counts what callers ask for over all instances. A caller may pass the limit by that small part at each instance. */
export interface SharedCounts {
  /** Counts requests of a caller; null when they are within the limit, else the milliseconds to wait. Never waits for the store. */
  count(caller: string, requests: number): number | null
}

interface Count {
  /** What all instances had counted when this one last asked. */
  total: number
  /** What this one has counted since. */
  own: number
}

/** A limit of `points` in each stretch of `windowMs`, which begin at the same moments for all instances. */
export function createSharedCounts(
  store: Pick<LibraryStore['instances'], 'addPoints'>,
  clock: Clock,
  points: number,
  windowMs: number,
): SharedCounts {
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
    count(caller, requests) {
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
