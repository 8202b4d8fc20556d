import { lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '../errors.ts'

/**
 * Creates a folder atomically: `write` fills a temporary one, which is then renamed.
 * @param mode of the folder
 * @throws AppError `invalid_input` when the path is a file, a link or a folder that is not empty
 */
export async function writeWholeFolder<T>(folder: string, mode: number, write: (partial: string) => Promise<T>): Promise<T> {
  if (folder.trim() === '') throw new AppError('invalid_input', 'Specify a folder to write to.')
  const target = resolve(folder)
  const about = await lstat(target).catch(() => null)
  if (about?.isSymbolicLink())
    throw new AppError('invalid_input', `${folder} is a symbolic link, which is not followed. Choose another name.`)
  if (about && !about.isDirectory()) throw new AppError('invalid_input', `${folder} exists and is not a folder. Choose another name.`)
  if (about && (await readdir(target)).length > 0)
    throw new AppError('invalid_input', `${folder} is not empty. Choose a new or empty folder.`)
  const partial = join(dirname(target), `.${basename(target)}.partial-${process.pid}`)
  try {
    await mkdir(dirname(target), { recursive: true, mode })
    // Not recursive: parent folders must exist.
    await mkdir(partial, { mode })
  } catch (error) {
    throw new AppError('invalid_input', `Could not create ${folder}: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    })
  }
  try {
    const written = await write(partial)
    if (about) await rmdir(target)
    await rename(partial, target)
    return written
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}
