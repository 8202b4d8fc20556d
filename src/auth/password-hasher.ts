import { AppError } from '../errors.ts'

/** Hashes worked on at once: each takes a core for some 60 ms and 16 MB. */
const AT_ONCE = 2
/** Those that may wait; more are told to come again. */
const MAX_WAITING = 100

/** Makes and checks hashes of passwords. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  verify(attempt: { hash: string; password: string }): Promise<boolean>
}

/**
 * Hashes a few passwords at a time, the others in their order, so that many who sign in at once cost no more memory than a few.
 * Its functions throw AppError `unavailable` when too many wait.
 */
export function queueHashing(hasher: PasswordHasher): PasswordHasher {
  let running = 0
  const waiting: (() => void)[] = []
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting.length >= MAX_WAITING) {
      throw new AppError('unavailable', 'Too many people sign in at this moment; try again.', { retryAfterSeconds: 5 })
    }
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
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
