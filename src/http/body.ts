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
/** Reads the body of a request of at most `maxBytes`. */
export type ReadBytes = (request: Request, maxBytes: number) => Promise<Uint8Array<ArrayBuffer>>

/**
 * Readers of bodies; all that one service reads share one budget.
 * They throw AppError `too_large` over the limit (4 MiB for texts), `invalid_input` when the body is cut off or too slow, or a text is not UTF-8,
 * `unavailable` when the budget is used up.
 */
export function createBodyReaders(
  limits: { heldBytes: number; withinMs: number } = { heldBytes: MAX_HELD_BYTES, withinMs: READ_WITHIN_MS },
): { readBody: ReadBody; readBytes: ReadBytes } {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let held = 0
  const readBytes: ReadBytes = async (request, maxBytes) => {
    if (!request.body) return new Uint8Array(0)
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
        if (bytes <= maxBytes) {
          held += value.byteLength
          own += value.byteLength
          chunks.push(value)
          if (held > limits.heldBytes) {
            throw new AppError('unavailable', 'The service is taking in too much at this moment; try again.', { retryAfterSeconds: 2 })
          }
        } else chunks.length = 0
        if (bytes > MAX_DRAINED_BYTES) break
      }
      if (bytes > maxBytes) {
        throw new AppError(
          'too_large',
          `The body is over ${maxBytes} bytes (${maxBytes / 1024 / 1024} MiB). Import large skills from the command line, or add their files one by one.`,
        )
      }
      return new Uint8Array(Buffer.concat(chunks))
    } catch (error) {
      reader.cancel().catch(() => {})
      throw error
    } finally {
      held -= own
      clearTimeout(timer)
    }
  }
  return {
    readBytes,
    async readBody(request) {
      const bytes = await readBytes(request, MAX_BODY_BYTES)
      try {
        return utf8.decode(bytes)
      } catch {
        throw new AppError('invalid_input', 'The body is not valid UTF-8.')
      }
    },
  }
}

function cutOff(error: unknown): never {
  throw new AppError('invalid_input', 'The body was cut off before its end.', { cause: error })
}
