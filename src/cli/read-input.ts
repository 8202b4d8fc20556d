import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { AppError, invalidInput } from '../errors.ts'
import { coerceText, type InputDescription } from '../operations/core/describe-inputs.ts'

/** Inputs that may come from a file: `@path`. */
const FILE_MARK = '@'
/** In place of a text or of a file's path: standard input. */
export const STDIN_MARK = '-'

/** Reads the values of one command line. @param stdin where `-` reads from, at most once */
export function createInputReader(stdin: AsyncIterable<Uint8Array | string>) {
  let isStdinRead = false
  const readStdin = async (name: string): Promise<string> => {
    if (isStdinRead) throw new AppError('invalid_input', `${name}: only one value can be read from standard input.`)
    isStdinRead = true
    return await text(stdin)
  }
  const readText = async (name: string, written: string): Promise<string> => {
    if (written === STDIN_MARK || written === FILE_MARK + STDIN_MARK) return await readStdin(name)
    return written.startsWith(FILE_MARK) ? await readNamedFile(name, written.slice(FILE_MARK.length)) : written
  }
  return {
    /** The value of a text that was written for an input. @throws AppError `invalid_input` */
    async read({ name, kind }: Pick<InputDescription, 'name' | 'kind'>, written: string | boolean): Promise<unknown> {
      if (typeof written === 'boolean') return written
      if (kind === 'number' || kind === 'boolean') return coerceText(written, kind)
      if (kind === 'list') return written.split(',').map((part) => part.trim())
      const read = await readText(name, written)
      if (kind === 'text') return read
      try {
        const value: unknown = JSON.parse(read)
        return value
      } catch {
        throw invalidInput(name, `${name} must be JSON.`)
      }
    },
  }
}

async function readNamedFile(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw new AppError('invalid_input', `${name}: the file ${path} ${isMissing ? 'does not exist' : 'cannot be read'}.`, { cause: error })
  }
}
