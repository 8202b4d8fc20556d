import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../errors.ts'

/** Failures one account may have before it rests, whoever fails. */
const FAILURES_OF_ACCOUNT = 100
/** Failures one address may have, whatever account it tries. */
const FAILURES_OF_ADDRESS = 30
const WINDOW_SECONDS = 600

/** Counts attempts to prove who somebody is, and refuses them after too many failures. */
export interface Attempts {
  /**
   * Runs `prove`; only those that come out false are counted in the end. They count while they run, too, so that many at once help nobody.
   * @throws AppError `rate_limited`, with the seconds to wait
   */
  count(account: string, address: string, prove: () => Promise<boolean>): Promise<boolean>
}

/** Attempts of one process. */
export function createAttempts(): Attempts {
  const accounts = new RateLimiterMemory({ points: FAILURES_OF_ACCOUNT, duration: WINDOW_SECONDS })
  const addresses = new RateLimiterMemory({ points: FAILURES_OF_ADDRESS, duration: WINDOW_SECONDS })
  const consume = async (limiter: RateLimiterMemory, key: string) => {
    try {
      await limiter.consume(key)
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000))
      const minutes = Math.ceil(retryAfterSeconds / 60)
      const message = `Too many failed attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
      throw new AppError('rate_limited', message, { retryAfterSeconds })
    }
  }
  return {
    async count(account, address, prove) {
      await consume(addresses, address)
      await consume(accounts, account)
      const isProved = await prove()
      if (isProved) {
        await addresses.reward(address)
        await accounts.delete(account)
      }
      return isProved
    },
  }
}
