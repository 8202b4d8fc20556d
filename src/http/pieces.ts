import { setImmediate } from 'node:timers/promises'
import { createTally } from '../domain/service/tally.ts'
import { AppError } from '../errors.ts'
import type { Answer, AnswerHeaders } from '../exchange.ts'

/** Headers of bytes for saving, never for showing: whatever they are, a browser neither renders nor sniffs them (contract, "REST"). */
export function downloadHeaders(type: string, filename: string): AnswerHeaders {
  return {
    'content-type': type,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  }
}

/** Downloads in pieces that one caller may have open. */
const MAX_OPEN = 4
/** Time limit of a download; slower readers must retry. */
const MAX_MS = 10 * 60_000

/** Answers a caller with bytes that are still being made. @throws AppError `rate_limited` when too many are being sent to them */
export type SendPieces = (
  caller: string,
  pieces: Iterator<Uint8Array, unknown> | AsyncIterator<Uint8Array, unknown>,
  headers: AnswerHeaders,
) => Answer

/** Sends pieces as they are made, others served between them. One caller has only a few of these open at once, and none without end. */
export function createPieceSender(): SendPieces {
  const open = createTally()
  return (caller, pieces, headers) => {
    if (open.of(caller) >= MAX_OPEN) {
      throw new AppError('rate_limited', `You already have ${MAX_OPEN} running downloads. Wait for one to finish.`, {
        retryAfterSeconds: 5,
      })
    }
    const release = open.add(caller)
    const end = new AbortController()
    const timer = setTimeout(() => end.abort(new Error('The download timed out')), MAX_MS).unref()
    const finish = () => {
      clearTimeout(timer)
      release()
    }
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        end.signal.addEventListener('abort', () => {
          finish()
          stream.error(end.signal.reason)
          void pieces.return?.(undefined)
        })
      },
      async pull(stream) {
        await setImmediate()
        try {
          const { done, value } = await pieces.next()
          if (end.signal.aborted) return
          if (!done) return stream.enqueue(value)
          finish()
          stream.close()
        } catch (error) {
          finish()
          throw error
        }
      },
      async cancel() {
        finish()
        await pieces.return?.(undefined)
      },
    })
    return { status: 200, headers, body }
  }
}
