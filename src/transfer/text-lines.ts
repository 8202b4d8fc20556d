import { encodingFault } from '../domain/skills/skill.ts'
import { AppError } from '../errors.ts'

/** A file's text without a byte order mark, piece by piece. @throws AppError `invalid_input` at the first byte that is not UTF-8: nothing is replaced in silence */
export async function* decodeUtf8(path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let start = new Uint8Array()
  try {
    for await (const chunk of bytes) {
      if (start.length === 0) start = chunk.slice(0, 2)
      yield utf8.decode(chunk, { stream: true })
    }
    yield utf8.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new AppError('invalid_input', `${path} ${encodingFault(start)}. Save it as UTF-8 and import it again.`, { cause: error })
  }
}

/**
 * Lines ended by LF. Not readline's: it ends one at U+2028 and U+2029 too, which JSON may hold as they are.
 * @param maxLength of a line, in UTF-16 units
 * @throws AppError `invalid_input` for a longer one
 */
export async function* readLines(path: string, bytes: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<string> {
  let rest = ''
  for await (const text of decodeUtf8(path, bytes)) {
    const lines = text.split('\n')
    lines[0] = rest + lines[0]
    if ((lines[0]?.length ?? 0) > maxLength) throw new AppError('invalid_input', `${path} has a line of more than ${maxLength} characters.`)
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}
