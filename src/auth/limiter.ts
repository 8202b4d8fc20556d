import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../domain/ports/environment.ts'
import { AppError } from '../errors.ts'
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

/** Failures one account may have from anywhere before everybody gets {@link FAILURES_EACH} more alone. */
const FAILURES_OF_ACCOUNT = 100
/** Failures allowed to each address for an account with too many, so that others cannot lock out its owner. */
const FAILURES_EACH = 3
/** Failures one address may have, whatever account it tries. */
const FAILURES_OF_ADDRESS = 30
/** Failures a browser may have at an account it was signed in to before; others do not count against it. */
const FAILURES_OF_BROWSER = 10
/** Failures of a signed-in person who must confirm the password. */
const FAILURES_OF_SESSION = 30
const WINDOW_SECONDS = 600
/**
 * Wrong codes of one account. Whoever enters one knows the password, so others cannot lock its owner out; with three of a million codes good
 * at a time, a day of guessing finds one with a chance of 0.02 percent.
 */
const WRONG_CODES = 10
const WRONG_CODES_A_DAY = 50
const DAY_SECONDS = 24 * 3600

/** An attempt to sign in. */
interface Attempt {
  readonly account: string
  readonly address: string
  /** A browser that was signed in to this very account before; null when that is not proved. */
  readonly knownBrowser: string | null
}

/**
 * Limits failed authentication attempts. Running attempts count too, so that many in parallel gain nothing; successful ones are uncounted.
 */
export function createAttempts(limiters: LimiterStore) {
  const limit = (name: string, failures: number) => createLimiter(`failures of ${name}`, limiters, failures, WINDOW_SECONDS)
  const accounts = limit('account', FAILURES_OF_ACCOUNT)
  const addresses = limit('address', FAILURES_OF_ADDRESS)
  const each = limit('address at account', FAILURES_EACH)
  const browsers = limit('browser', FAILURES_OF_BROWSER)
  const codes = limit('code', WRONG_CODES)
  const codesOfBrowser = limit('code of browser', WRONG_CODES)
  const passkeys = limit('passkey', FAILURES_OF_ADDRESS)
  const codesOfKnown = createLimiter('failures of code in known browsers in a day', limiters, WRONG_CODES_A_DAY, DAY_SECONDS)
  const codesOfDay = createLimiter('failures of code in a day', limiters, WRONG_CODES_A_DAY, DAY_SECONDS)
  const sessions = limit('session', FAILURES_OF_SESSION)

  const consume = async (limiter: Limiter, key: string) => {
    const retryAfterSeconds = await limiter.count(key)
    if (retryAfterSeconds === null) return
    const minutes = Math.ceil(retryAfterSeconds / 60)
    const message = `Too many failed attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
    throw new AppError('rate_limited', message, { retryAfterSeconds })
  }
  /** Runs `prove`, and uncounts the attempt when it succeeds. */
  const judge = async (counted: readonly (readonly [Limiter, string])[], prove: () => Promise<boolean>) => {
    const isProved = await prove()
    if (isProved) for (const [limiter, key] of counted) await limiter.reward(key)
    return isProved
  }
  return {
    /** @throws AppError `rate_limited`, with the seconds to wait */
    async count({ account, address, knownBrowser }: Attempt, prove: () => Promise<boolean>): Promise<boolean> {
      if (knownBrowser !== null && (await browsers.count(knownBrowser)) === null) return await judge([[browsers, knownBrowser]], prove)
      await consume(addresses, address)
      const counted: [Limiter, string][] = [
        [addresses, address],
        [accounts, account],
      ]
      if ((await accounts.count(account)) !== null) {
        const own = `${address} ${account}`
        await consume(each, own)
        counted.push([each, own])
      }
      return await judge(counted, prove)
    },
    /**
     * For the second step of a sign-in.
     * @throws AppError `rate_limited`, with the seconds to wait
     */
    async countStep({ account, address, knownBrowser }: Attempt, prove: () => Promise<boolean>): Promise<boolean> {
      // Known browsers have attempts that strangers cannot use up; all of them together have no more than strangers have.
      if (knownBrowser !== null && (await codesOfBrowser.count(knownBrowser)) === null && (await codesOfKnown.count(account)) === null) {
        return await judge(
          [
            [codesOfBrowser, knownBrowser],
            [codesOfKnown, account],
          ],
          prove,
        )
      }
      const counted = [
        [addresses, address],
        [codes, account],
        [codesOfDay, account],
      ] as const
      for (const [limiter, key] of counted) await consume(limiter, key)
      return await judge(counted, prove)
    },
    /** For an address that presents passkeys. @throws AppError `rate_limited`, with the seconds to wait */
    async countPasskey(address: string, prove: () => Promise<boolean>): Promise<boolean> {
      await consume(passkeys, address)
      return await judge([[passkeys, address]], prove)
    },
    /**
     * For a signed-in person.
     * @throws AppError `rate_limited`, with the seconds to wait
     */
    async countSignedIn(userId: string, prove: () => Promise<boolean>): Promise<boolean> {
      await consume(sessions, userId)
      return await judge([[sessions, userId]], prove)
    },
  }
}
