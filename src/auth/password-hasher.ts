import { AppError } from '../errors.ts'

/** Memory that hashing may take, and how many are worked on at once if each takes little: each takes a core, too. */
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
 * Hashes a few passwords at a time, the others in their order, so that many who sign in at once cost no more memory than a few.
 * @param memory bytes that one takes while it works
 * Its functions throw AppError `unavailable` when too many wait.
 */
export function queueHashing(hasher: PasswordHasher, memory: number): PasswordHasher {
  const atOnce = Math.max(1, Math.min(MAX_AT_ONCE, Math.floor(MAX_MEMORY / memory)))
  let running = 0
  const waiting: (() => void)[] = []
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting.length >= MAX_WAITING * atOnce) {
      throw new AppError('unavailable', 'Too many people are signing in. Try again in a moment.', { retryAfterSeconds: 5 })
    }
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      // The place goes to who waits longest, or is given up.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
  return {
    hash: (password) => inTurn(() => hasher.hash(password)),
    verify: (attempt) => inTurn(() => hasher.verify(attempt)),
  }
}
