import { AppError, toAppError } from '../errors.ts'
import type { Exchange } from '../exchange.ts'

/** Largest request body, in bytes. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024
/** How much of a body that is too large is still read and dropped, so that the client gets to see the answer. */
const MAX_DRAINED_BYTES = 32 * 1024 * 1024
/** Bytes of bodies being received: of all callers, of one with a key or a session, and of one address without. */
const HELD_BYTES = { all: 256 * 1024 * 1024, known: 64 * 1024 * 1024, anonymous: 16 * 1024 * 1024 }
/** Time limit of a body: a little below the connection's, so that the client gets our answer. */
const READ_WITHIN_MS = 25_000

/** The caller whose body is read. */
interface BodyOwner {
  readonly caller: string
  /** Whether the caller has a key or a session. */
  readonly isKnown: boolean
}

/** Reads the body of a request of at most `maxBytes`. */
export type ReadBytes = (exchange: Exchange, owner: BodyOwner, maxBytes: number) => Promise<Uint8Array>

/**
 * A reader of bodies. All that one service reads share one budget, of which each caller has a share.
 * It throws AppError `too_large` over the limit, `invalid_input` when the body is cut off or too slow, `rate_limited` when the caller's share
 * is used up and `unavailable` when the whole budget is.
 */
export function createBodyReader(
  limits: { readonly held: typeof HELD_BYTES; readonly withinMs: number } = { held: HELD_BYTES, withinMs: READ_WITHIN_MS },
): ReadBytes {
  let heldByAll = 0
  const heldBy = new Map<string, number>()
  /** Counts bytes that come in, or that are let go of. @throws AppError */
  const hold = (caller: string, size: number, share: number): void => {
    heldByAll += size
    const held = (heldBy.get(caller) ?? 0) + size
    if (held > 0) heldBy.set(caller, held)
    else heldBy.delete(caller)
    if (size <= 0) return
    if (held > share) {
      throw new AppError('rate_limited', 'You are sending too much at once. Wait for your other requests to finish.', {
        retryAfterSeconds: 2,
      })
    }
    if (heldByAll > limits.held.all) {
      throw new AppError('unavailable', 'The service is receiving too much data. Try again in a moment.', { retryAfterSeconds: 2 })
    }
  }
  return (exchange, { caller, isKnown }, maxBytes) =>
    new Promise((resolve, reject) => {
      const share = isKnown ? limits.held.known : limits.held.anonymous
      const chunks: Uint8Array[] = []
      let bytes = 0
      let own = 0
      let isOver = false
      let timer: NodeJS.Timeout | undefined
      const end = (error?: AppError) => {
        if (isOver) return
        isOver = true
        clearImmediate(arming)
        clearTimeout(timer)
        if (own > 0) hold(caller, -own, share)
        const [only] = chunks
        if (error) reject(error)
        else if (bytes > maxBytes) reject(tooLarge(maxBytes))
        else resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks))
      }
      // Most bodies come with their head, and need no clock.
      const arming = setImmediate(() => {
        timer = setTimeout(() => end(new AppError('invalid_input', 'Timed out receiving the body.')), limits.withinMs)
      })
      const take = (chunk: Uint8Array): boolean => {
        bytes += chunk.byteLength
        if (isOver || bytes > MAX_DRAINED_BYTES) {
          end()
          return false
        }
        // A body that is only too large is read and dropped: many clients look for an answer when all is sent.
        if (bytes > maxBytes) {
          chunks.length = 0
          return true
        }
        chunks.push(chunk)
        own += chunk.byteLength
        try {
          hold(caller, chunk.byteLength, share)
          return true
        } catch (thrown) {
          end(toAppError(thrown))
          return false
        }
      }
      exchange.readBody(take, (error) => end(error && new AppError('invalid_input', 'The body is incomplete.', { cause: error })))
    })
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** A body as text. @throws AppError `invalid_input` for bytes that are not UTF-8 */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new AppError('invalid_input', 'The body is not valid UTF-8.')
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError(
    'too_large',
    `The body exceeds ${maxBytes} bytes (${maxBytes / 1024 / 1024} MiB). Import large skills from the command line, or add their files one by one.`,
  )
}
