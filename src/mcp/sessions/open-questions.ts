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
export type OpenQuestions = ReturnType<ReturnType<typeof createQuestionBounds>['open']>

/** Bounds the questions of all sessions of a process. */
export function createQuestionBounds(limits: QuestionLimits) {
  const byQuota = createTally()
  let count = 0
  return {
    /** @param giveUp cancels a request on the session's server */
    open(quota: string, giveUp: (id: string | number) => void) {
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
        has: (id: string | number) => asked.has(id),
        /** Counts a request until it is settled. @throws AppError `rate_limited`, `unavailable` */
        ask(id: string | number) {
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
        /** Ends the count of a request that is answered or given up. */
        settle,
        settleAll() {
          for (const id of [...asked.keys()]) settle(id)
        },
        /** Cancels the timeouts of all, because the client is back. Returns their ids. */
        resume() {
          for (const { timer } of asked.values()) clearTimeout(timer)
          return [...asked.keys()]
        },
        /** Starts the timeouts of these questions. */
        awaitReturn(ids: readonly (string | number)[]) {
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
