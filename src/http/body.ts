import { AppError } from '../errors.ts'

/** Largest request body, in bytes. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024
/** How much of a body that is too large is still read and dropped, so that the client gets to see the answer. */
const MAX_DRAINED_BYTES = 32 * 1024 * 1024
/** Bytes of bodies held at once while they come in. */
const MAX_HELD_BYTES = 256 * 1024 * 1024
/** How long a body may take to come in: a little less than the connection gives it, so that the client sees an answer of ours. */
const READ_WITHIN_MS = 25_000

/** Reads the body of a request as text. */
export type ReadBody = (request: Request) => Promise<string>

/**
 * A reader of bodies; all that one service reads share one budget.
 * Its reads throw AppError `too_large` over 4 MiB, `invalid_input` when the body is not UTF-8, cut off or too slow, `unavailable` when the budget is used up.
 */
export function createBodyReader(
  limits: { heldBytes: number; withinMs: number } = { heldBytes: MAX_HELD_BYTES, withinMs: READ_WITHIN_MS },
): ReadBody {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let held = 0
  return async (request) => {
    if (!request.body) return ''
    const chunks: Uint8Array[] = []
    let bytes = 0
    let own = 0
    const reader = request.body.getReader()
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new AppError('invalid_input', 'The body took too long to come in.')), limits.withinMs)
    try {
      for (;;) {
        const { done, value } = await Promise.race([reader.read().catch(cutOff), late.promise])
        if (done) break
        bytes += value.byteLength
        if (bytes <= MAX_BODY_BYTES) {
          held += value.byteLength
          own += value.byteLength
          chunks.push(value)
          if (held > limits.heldBytes) {
            throw new AppError('unavailable', 'The service is taking in too much at this moment; try again.', { retryAfterSeconds: 2 })
          }
        } else chunks.length = 0
        if (bytes > MAX_DRAINED_BYTES) break
      }
      if (bytes > MAX_BODY_BYTES) {
        throw new AppError(
          'too_large',
          `The body is over ${MAX_BODY_BYTES} bytes (4 MiB). Import large skills from the command line, or add their files one by one.`,
        )
      }
      return utf8.decode(Buffer.concat(chunks))
    } catch (error) {
      reader.cancel().catch(() => {})
      if (error instanceof AppError) throw error
      throw new AppError('invalid_input', 'The body is not valid UTF-8.')
    } finally {
      held -= own
      clearTimeout(timer)
    }
  }
}

function cutOff(error: unknown): never {
  throw new AppError('invalid_input', 'The body was cut off before its end.', { cause: error })
}
