import pLimit from 'p-limit'
import { AppError } from '../errors.ts'

/** Memory for hashing, and most hashes at once: each also takes a core. */
const MAX_MEMORY = 128 * 2 ** 20
const MAX_AT_ONCE = 2
/** Those that may wait for each place; more get `unavailable`. */
const MAX_WAITING = 50

/** Makes and checks hashes of passwords. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  verify(attempt: { hash: string; password: string }): Promise<boolean>
}

/**
 * Hashes a few passwords at a time, in order, so that many sign-ins cost no more memory than a few. Its functions throw AppError
 * `unavailable` when too many wait.
 * @param memory bytes of one hash
 */
export function queueHashing(hasher: PasswordHasher, memory: number): PasswordHasher {
  const atOnce = Math.max(1, Math.min(MAX_AT_ONCE, Math.floor(MAX_MEMORY / memory)))
  const limit = pLimit(atOnce)
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= MAX_WAITING * atOnce) {
      throw new AppError('unavailable', 'Too many people are signing in. Try again in a moment.', { retryAfterSeconds: 5 })
    }
    return await limit(work)
  }
  return {
    hash: (password) => inTurn(() => hasher.hash(password)),
    verify: (attempt) => inTurn(() => hasher.verify(attempt)),
  }
}
