import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'
import { createTally } from '../../domain/service/running-work.ts'
import { AppError } from '../../errors.ts'

/** Messages stored for one session. */
const MAX_EVENTS = 100
/** Bytes of stored messages of all sessions of the process. */
const MAX_BYTES = 64 * 1024 * 1024

interface LoggedEvent {
  readonly id: string
  readonly stream: string
  readonly number: number
  readonly message: JSONRPCMessage
  readonly bytes: number
}

/** Creates event logs with one shared budget. Beyond it the oldest messages of all are dropped. */
export function createEventLogs(maxBytes: number = MAX_BYTES): { open(): EventStore & { end(): void }; forget(): void } {
  const logs = new Set<LoggedEvent[]>()
  let bytes = 0
  let count = 0
  const drop = (log: LoggedEvent[]) => {
    bytes -= log.shift()?.bytes ?? 0
  }
  const dropOldest = () => {
    let oldest: LoggedEvent[] | undefined
    for (const log of logs) if (log[0] && log[0].number < (oldest?.[0]?.number ?? Number.POSITIVE_INFINITY)) oldest = log
    if (oldest) drop(oldest)
    return oldest !== undefined
  }
  return {
    /** The last messages of one session, for a client that resumes a broken stream (Last-Event-ID). */
    open() {
      const log: LoggedEvent[] = []
      logs.add(log)
      return {
        async storeEvent(stream, message) {
          const number = ++count
          const event = { id: `${stream}_${number}`, stream, number, message, bytes: Buffer.byteLength(JSON.stringify(message)) }
          log.push(event)
          bytes += event.bytes
          while (log.length > MAX_EVENTS) drop(log)
          while (bytes > maxBytes && dropOldest());
          return event.id
        },
        async getStreamIdForEventId(id) {
          const stream = id.slice(0, Math.max(0, id.lastIndexOf('_')))
          return log.some((event) => event.stream === stream) ? stream : undefined
        },
        async replayEventsAfter(lastId, { send }) {
          const separator = lastId.lastIndexOf('_')
          const stream = lastId.slice(0, separator)
          const last = Number(lastId.slice(separator + 1))
          for (const event of [...log]) {
            // A priming event has no message: it only gave the client an id to resume from.
            if (event.stream === stream && event.number > last && Object.keys(event.message).length > 0) await send(event.id, event.message)
          }
          return stream
        },
        end() {
          while (log.length > 0) drop(log)
          logs.delete(log)
        },
      }
    },
    /** Drops all messages: one may contain purged text. A client that reconnects resumes from now. */
    forget() {
      for (const log of logs) while (log.length > 0) drop(log)
    },
  }
}

/**
 * The same answer; `ended` is called once when its body is sent, fails, or its reader leaves. Without a body: at once. `breakOff` ends it
 * early.
 */
export function whenSent(response: Response, ended: () => void, breakOff?: AbortSignal): Response {
  if (!response.body) {
    ended()
    return response
  }
  // The browsers' types, which tests of pages are compiled with, have no `cancel` yet.
  const ends = { flush: ended, cancel: ended }
  const watched = response.body.pipeThrough(new TransformStream(ends), breakOff ? { signal: breakOff } : {})
  return new Response(watched, { status: response.status, headers: response.headers })
}

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
