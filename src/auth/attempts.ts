import { AppError } from '../errors.ts'
import { createLimiter, type Limiter, type LimiterStore } from './limiter.ts'

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

/** Attempts at all instances. */
export function createAttempts(limiters: LimiterStore): Attempts {
  const accounts = createLimiter('failures of account', limiters, FAILURES_OF_ACCOUNT, WINDOW_SECONDS)
  const addresses = createLimiter('failures of address', limiters, FAILURES_OF_ADDRESS, WINDOW_SECONDS)
  const consume = async (limiter: Limiter, key: string) => {
    const retryAfterSeconds = await limiter.count(key)
    if (retryAfterSeconds === null) return
    const minutes = Math.ceil(retryAfterSeconds / 60)
    const message = `Too many failed attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
    throw new AppError('rate_limited', message, { retryAfterSeconds })
  }
  return {
    async count(account, address, prove) {
      await consume(addresses, address)
      await consume(accounts, account)
      const isProved = await prove()
      if (isProved) {
        await addresses.reward(address)
        await accounts.forgive(account)
      }
      return isProved
    },
  }
}
