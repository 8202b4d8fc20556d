import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { sha256 } from './synced-prompt.ts'

/** Where files are written before they are renamed: beside what is synced, so that a rename is enough. */
const TEMPORARY = '.commonplace-sync'
/** Files of a killed sync are removed after this. */
const STALE_MS = 3600 * 1000
const FILE_MODE = 0o666

/** A file that is not as it was when it was read: left as it is, for the next sync. */
export function changedMeanwhile(path: string): AppError {
  return new AppError('conflict', `${path} changed while it was synced. Sync again.`)
}

/** Writes files below a folder, each whole or not at all. */
export type FolderWriter = Awaited<ReturnType<typeof openFolderWriter>>

export async function openFolderWriter(root: string, now: number) {
  const temporary = join(root, TEMPORARY)
  let isMade = false
  const stage = async (bytes: Uint8Array, mode: number): Promise<string> => {
    if (!isMade) {
      await requireFolder(root, TEMPORARY)
      await writeFile(join(temporary, '.gitignore'), '*\n', { flag: 'w' })
      isMade = true
    }
    const path = join(temporary, `${process.pid}-${randomBytes(8).toString('hex')}`)
    await writeFile(path, bytes, { flag: 'wx', flush: true, mode })
    return path
  }
  await removeStale(temporary, now)
  return {
    /**
     * Writes a file.
     * @param expected digest of what is there, null for nothing
     * @param mode bits that it has besides those of a new file, or of the one that was there
     * @returns what somebody wrote into the old file in the last moment, which is in no other place now; usually null
     * @throws AppError `conflict` when something else is there, `invalid_input` when a folder above it is a link
     */
    async write(path: string, bytes: Uint8Array, expected: string | null, mode: number = 0): Promise<Buffer | null> {
      const target = join(root, path)
      await requireFolder(root, dirname(path))
      if (expected === null) {
        const staged = await stage(bytes, FILE_MODE | mode)
        try {
          await linkNew(staged, target, path)
        } finally {
          await rm(staged, { force: true })
        }
        return null
      }
      return await withUnchanged(path, target, expected, async (file) => {
        const staged = await stage(bytes, ((await file.stat()).mode & 0o777) | mode)
        try {
          await requireSameFile(file, target, path)
          await rename(staged, target)
        } catch (error) {
          await rm(staged, { force: true })
          throw error
        }
        // Who had the old file open may have written into it since it was compared.
        const late = await readAll(file)
        return sha256(late) === expected ? null : late
      })
    },
    /** Removes a file, and the folders that are empty then. @throws AppError as `write` */
    async remove(path: string, expected: string): Promise<void> {
      const target = join(root, path)
      await withUnchanged(path, target, expected, async (file) => {
        await requireSameFile(file, target, path)
        await unlink(target)
      })
      try {
        for (let folder = dirname(path); folder.includes('/'); folder = dirname(folder)) await rmdir(join(root, folder))
      } catch {
        // It has other files.
      }
    },
    /** Removes temporary files. */
    async close(): Promise<void> {
      if (!isMade) return
      await rm(join(temporary, '.gitignore'), { force: true })
      // Another sync may use it.
      await rmdir(temporary).catch(() => {})
    },
  }
}

/** Creates the folders of a path, none of which may be a link. */
async function requireFolder(root: string, path: string): Promise<void> {
  let at = root
  for (const part of path.split('/')) {
    at = join(at, part)
    await mkdir(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(at)).isDirectory()) throw new AppError('invalid_input', `${at} is not a folder, and links are not followed.`)
  }
}

/** Gives a file its name when nothing has that name. */
async function linkNew(from: string, to: string, path: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EEXIST') throw changedMeanwhile(path)
    // A file system without hard links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error
    if (await lstat(to).catch(() => null)) throw changedMeanwhile(path)
    await rename(from, to)
  }
}

async function withUnchanged<T>(path: string, target: string, expected: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ELOOP' ? changedMeanwhile(path) : error
  })
  try {
    if (!(await file.stat()).isFile() || sha256(await readAll(file)) !== expected) throw changedMeanwhile(path)
    return await work(file)
  } finally {
    await file.close()
  }
}

async function requireSameFile(file: FileHandle, target: string, path: string): Promise<void> {
  const [one, other] = await Promise.all([file.stat(), stat(target).catch(() => null)])
  if (one.ino !== other?.ino || one.mtimeMs !== other.mtimeMs) throw changedMeanwhile(path)
}

async function readAll(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat()
  const bytes = Buffer.alloc(size)
  const { bytesRead } = await file.read(bytes, 0, size, 0)
  return bytes.subarray(0, bytesRead)
}

async function removeStale(temporary: string, now: number): Promise<void> {
  const about = await lstat(temporary).catch(() => null)
  if (!about?.isDirectory()) return
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name)
    const { mtimeMs } = (await lstat(path).catch(() => null)) ?? { mtimeMs: now }
    if (/^\d+-[0-9a-f]{16}$/.test(name) && mtimeMs < now - STALE_MS) await rm(path, { force: true })
  }
}
