import { createTally } from '../../domain/service/tally.ts'
import { AppError } from '../../errors.ts'

/** Most requests that wait for a user: of one session, of one caller, and in all. */
export interface QuestionLimits {
  readonly perSession: number
  readonly perQuota: number
  readonly most: number
  /** How long a question stays open after its client left; until then the client may resume the stream. */
  readonly resumeMs: number
}

export const QUESTION_LIMITS: QuestionLimits = { perSession: 10, perQuota: 50, most: 1_000, resumeMs: 120_000 }

/** The open questions of one session. */
export interface OpenQuestions {
  has(id: string | number): boolean
  /** Counts a request until it is settled. @throws AppError `rate_limited`, `unavailable` */
  ask(id: string | number): void
  /** Ends the count of a request that is answered or given up. */
  settle(id: string | number): void
  settleAll(): void
  /** Cancels the timeouts of all, because the client is back. Returns their ids. */
  resume(): readonly (string | number)[]
  /** Starts the timeouts of these questions. */
  awaitReturn(ids: readonly (string | number)[]): void
}

/** Bounds the questions of all sessions of a process. */
export function createQuestionBounds(limits: QuestionLimits): {
  /** @param giveUp cancels a request on the session's server */
  open(quota: string, giveUp: (id: string | number) => void): OpenQuestions
} {
  const byQuota = createTally()
  let count = 0
  return {
    open(quota, giveUp) {
      const asked = new Map<string | number, { readonly release: () => void; timer: NodeJS.Timeout | undefined }>()
      const settle = (id: string | number): void => {
        const question = asked.get(id)
        if (!question) return
        asked.delete(id)
        clearTimeout(question.timer)
        question.release()
        count--
      }
      return {
        has: (id) => asked.has(id),
        ask(id) {
          if (asked.size >= limits.perSession || byQuota.of(quota) >= limits.perQuota) {
            throw new AppError('rate_limited', 'Too many open questions for your user. Answer or cancel some.', {
              retryAfterSeconds: 5,
            })
          }
          if (count >= limits.most) {
            throw new AppError('unavailable', 'Too many open questions. Try again in a moment.', { retryAfterSeconds: 5 })
          }
          count++
          asked.set(id, { release: byQuota.add(quota), timer: undefined })
        },
        settle,
        settleAll() {
          for (const id of [...asked.keys()]) settle(id)
        },
        resume() {
          for (const { timer } of asked.values()) clearTimeout(timer)
          return [...asked.keys()]
        },
        awaitReturn(ids) {
          for (const id of ids) {
            const question = asked.get(id)
            if (!question) continue
            clearTimeout(question.timer)
            question.timer = setTimeout(() => {
              settle(id)
              giveUp(id)
            }, limits.resumeMs)
            question.timer.unref()
          }
        },
      }
    },
  }
}
