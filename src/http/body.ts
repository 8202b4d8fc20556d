import { AppError } from '../errors.ts'

/** Largest request body, in bytes. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024
/** How much of a body that is too large is still read and dropped, so that the client gets to see the answer. */
const MAX_DRAINED_BYTES = 32 * 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The body of a request as text.
 * @throws AppError `too_large` over 4 MiB, `invalid_input` when it is not UTF-8
 */
export async function readBody(request: Request): Promise<string> {
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw new AppError('invalid_input', 'The body was cut off before its end.', { cause: error })
    })
    if (done) break
    bytes += value.byteLength
    if (bytes <= MAX_BODY_BYTES) chunks.push(value)
    else chunks.length = 0
    if (bytes > MAX_DRAINED_BYTES) {
      await reader.cancel()
      break
    }
  }
  if (bytes > MAX_BODY_BYTES)
    throw new AppError(
      'too_large',
      `The body is over ${MAX_BODY_BYTES} bytes (4 MiB). Import large skills from the command line, or add their files one by one.`,
    )
  try {
    return utf8.decode(Buffer.concat(chunks))
  } catch {
    throw new AppError('invalid_input', 'The body is not valid UTF-8.')
  }
}
