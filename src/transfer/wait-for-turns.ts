import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../errors.ts'

/** How long a server may ask to wait, and how often. */
const MAX_WAIT_SECONDS = 120
const MAX_TRIES = 5

/** Asks again where another server wants fewer calls, after the time it names. @throws what `ask` throws otherwise */
export function waitForTurns<Given extends unknown[], Answer>(
  ask: (...given: Given) => Promise<Answer>,
): (...given: Given) => Promise<Answer> {
  return async (...given) => {
    for (let tries = 1; ; tries++) {
      try {
        return await ask(...given)
      } catch (error) {
        const seconds = error instanceof AppError && error.code === 'rate_limited' ? error.retryAfterSeconds : undefined
        if (seconds === undefined || seconds > MAX_WAIT_SECONDS || tries >= MAX_TRIES) throw error
        await sleep(seconds * 1000)
      }
    }
  }
}
