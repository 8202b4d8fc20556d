import { constants, type Stats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { AppError } from '../errors.ts'

/** The message of a refusal of one file of several. Any other error is thrown. */
export function faultOf(error: unknown): string {
  if (!(error instanceof AppError) || error.code === 'internal') throw error
  return error.message
}

/** The stat of a path, null for nothing. Any other failure is thrown: a file that cannot be looked at is not a missing one. */
export async function lstatIfThere(path: string): Promise<Stats | null> {
  return await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/**
 * The bytes of a regular file of at most `maxBytes`; null when there is none. It is opened without following a link, so that one put in its
 * place meanwhile is not read either.
 * @throws AppError `invalid_input` for a link, a folder, or a larger file
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer | null> {
  const about = await lstatIfThere(path).catch((error: NodeJS.ErrnoException) => {
    // A file stands where the folder would be.
    if (error.code === 'ENOTDIR') return null
    throw error
  })
  if (about === null) return null
  if (!about.isFile()) throw new AppError('invalid_input', `${path} is not a regular file (links are not followed).`)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { size } = await file.stat()
    if (size > maxBytes) throw new AppError('invalid_input', `${path} has ${size} bytes; the limit is ${maxBytes}.`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
